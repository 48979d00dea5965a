"""An example of every pattern of secret_patterns.yaml, made up here; in pieces, so that scanners find nothing here."""

CERTAIN = {
    "private-key": "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIEpAIBAAKCAQEA0000",
    "aws-access-key": "id = AKIA" + "ABCDEFGHIJKLMNOP",
    "aws-secret-key": "AWS_SECRET_ACCESS_KEY=" + "a/+b" * 10,
    "azure-storage-key": "AccountKey=" + "A" * 86 + "==",
    "azure-sas": "https://lab.blob.core.windows.net/data?sv=2024&sig=" + "aB1%2F" * 8 + "%3D",
    "ngc-api-key": "export NGC_API_KEY=nvapi-" + "a-_B" * 16,
    "hugging-face-token": "hf_" + "aB" * 17,
    "github-token": "ghp_" + "a1" * 18,
    "gitlab-token": "glpat-" + "a1_B" * 5,
    "slack-token": "xoxb" + "-123456789012-123456789012-aBcD",
    "slack-webhook": "https://hooks.slack.com/services/T000/B000/" + "aB1" * 8,
    "openai-key": "sk-proj-" + "a1_B" * 8,
    "anthropic-key": "sk-ant-api03-" + "a1_B" * 8,
    "npm-token": "npm_" + "a1" * 18,
    "pypi-token": "pypi-AgEIcHlwaS5vcmc" + "a1_B" * 15,
    "pulumi-token": "pul-" + "0a" * 20,
    "registry-login": '{"auths": {"nvcr.io": {"auth": "' + "eA==" + '"}}}',
    "kubeconfig-key": "client-key-data: " + "QUJD" * 16,
}
"""What nobody writes who means something else."""

LIKELY = {
    "signed-token": "eyJhbGciOiJI.eyJzdWIiOiIx",
    "private-key-header": "-----BEGIN EC PRIVATE KEY-----",
    "azure-signature": "sig=abcdefghijklmnopqrst",
    "kubeconfig": "certificate-authority-data",
    "assignment": "api_key: abc",
    "option": "docker login --password hunter22",
    "url-login": "https://me:pw@host",
}
"""What documentation is full of, too."""
