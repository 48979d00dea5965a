COPY certificates/ /usr/local/share/ca-certificates/gpufleet/
RUN if command -v update-ca-trust > /dev/null; then \
        cp /usr/local/share/ca-certificates/gpufleet/*.crt /etc/pki/ca-trust/source/anchors/ && update-ca-trust \
        && bundle=/etc/pki/tls/certs/ca-bundle.crt; \
    else \
        { command -v update-ca-certificates > /dev/null || { apt-get update \
            && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ca-certificates \
            && rm -rf /var/lib/apt/lists/*; }; } \
        && update-ca-certificates && bundle=/etc/ssl/certs/ca-certificates.crt; \
    fi && ln -sf "$bundle" /usr/local/share/ca-certificates/gpufleet-all.pem
# pip, requests and OpenSSL look at these, and not at the system's own place.
ENV SSL_CERT_FILE="/usr/local/share/ca-certificates/gpufleet-all.pem" \
    REQUESTS_CA_BUNDLE="/usr/local/share/ca-certificates/gpufleet-all.pem" \
    PIP_CERT="/usr/local/share/ca-certificates/gpufleet-all.pem"
