"""Cases of gpufleet.rules.aws.image_pull."""

from gpufleet.rules.aws.image_pull import image_reached

HERE = {"region": "us-east-1", "caches": ["k8s"]}
ECR = "123456789012.dkr.ecr.us-east-1.amazonaws.com"
FIX = "copy the image into ECR in us-east-1 and give its name there, or set network.nat=single [aws-image-reached]"


def case(name, image, status="pass", line=""):
    return (name, {"argument": "queue.image", "image": image, **HERE}, status, line)


def beyond(name, image, host):
    line = f"trainers: queue.image={image}: nodes without NAT cannot reach {host}; {FIX}"
    return case(name, image, "fail", line)


CASES = {
    image_reached: [
        case("region's-ecr", f"{ECR}/kueue:v0.19.2"),
        case("region's-ecr-fips", "123456789012.dkr.ecr-fips.us-east-1.amazonaws.com/kueue"),
        case("region's-ecr-dual-stack", "123456789012.dkr-ecr.us-east-1.on.aws/kueue"),
        case("like-a-cache", f"{ECR}/k8s-kueue"),
        beyond("registry.k8s.io", "registry.k8s.io/kueue/kueue", "registry.k8s.io"),
        beyond("nvcr.io", "nvcr.io/nvidia/k8s-device-plugin", "nvcr.io"),
        beyond("docker-hub-by-default", "mpioperator/mpi-operator:0.7.0", "docker.io"),
        beyond("docker-hub-of-one-part", "busybox", "docker.io"),
        beyond(
            "ecr-of-another-region",
            "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/plugin",
            "602401143452.dkr.ecr.us-west-2.amazonaws.com",
        ),
        case(
            "cache",
            f"{ECR}/k8s/kueue/kueue",
            "unverified",
            f"trainers: queue.image={ECR}/k8s/kueue/kueue: not verified: lies in the cache k8s, which nodes without "
            "NAT cannot fill: whether it holds the image is open; pull the image once from where there is a way to "
            "the internet [aws-image-reached]",
        ),
        case(
            "inside-of-the-vpc",
            "registry.example.com:5000/kueue",
            "unverified",
            "trainers: queue.image=registry.example.com:5000/kueue: not verified: whether nodes without NAT reach "
            f"registry.example.com:5000 is not known; {FIX}",
        ),
    ],
}


def test_case(case):
    case.check()
