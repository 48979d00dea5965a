"""How gradients are averaged: a DistributedDataParallel communication hook that chooses the type and counts bytes."""

from time import perf_counter

import torch
import torch.distributed as dist


class Exchange:
    """All-reduce of gradient buckets in ``dtype``, and what went through it since `reset`.

    DistributedDataParallel hands over a bucket as soon as its gradients are there, while the backward pass still
    computes earlier layers: the exchange of one bucket overlaps with the computation of the next.

    Attributes:
        payload_bytes: bytes that this rank gave to all-reduce. A ring sends 2 (n - 1) / n times as many.
        buckets: buckets handed over.
        head_start: seconds between each backward pass's first and last bucket, summed: the time in which the network
            works while the backward pass goes on. On a GPU it is the time between the launches.
    """

    def __init__(self, dtype: torch.dtype, ranks: int) -> None:
        self.dtype = dtype
        self.ranks = ranks
        self.reset()

    def reset(self) -> None:
        self.payload_bytes = 0
        self.buckets = 0
        self.head_start = 0.0
        self._first = 0.0

    def count(self, sent: torch.Tensor, index: int, last: bool) -> None:
        self.payload_bytes += sent.numel() * sent.element_size()
        self.buckets += 1
        now = perf_counter()
        if index == 0:
            self._first = now
        if last:
            self.head_start += now - self._first


def average(exchange: Exchange, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """The hook: the mean of ``bucket`` over all ranks.

    Divided before it is cast, so that a sum of many ranks does not leave fp16's range (65504).
    """
    gradients = bucket.buffer()
    sent = (gradients / exchange.ranks).to(exchange.dtype)
    exchange.count(sent, bucket.index(), bucket.is_last())
    arrived = dist.all_reduce(sent, async_op=True).get_future()

    def unpack(done: torch.futures.Future[list[torch.Tensor]]) -> torch.Tensor:
        return gradients.copy_(done.value()[0])

    return arrived.then(unpack)
