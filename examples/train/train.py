#!/usr/bin/env python3
"""Train a small image classifier on all ranks that mpirun or torchrun started, with PyTorch DistributedDataParallel.

Data and checkpoints are on the shared volume; with --synthetic the program makes its data itself. A run that is started
again goes on from its newest checkpoint. SIGTERM or SIGUSR1 to any rank, SIGUSR1 to mpirun, or SIGTERM to torchrun is
notice that a node will be taken: a checkpoint is saved, and all ranks end with exit code 143.
"""

import argparse
import os
import signal
import sys
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Any, NoReturn, TypeVar

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import checkpoints
import network
from dataset import Images, batch_at, load_images, synthetic_images, varied
from exchange import Exchange, average
from model import Classifier
from options import arguments
from outputs import publish
from ranks import Place, TrainingError, meeting_point, place_in_job, started_by_torchrun

RECLAIMED = 143
"""Exit code after notice: 128 + SIGTERM, as a shell has it."""

Thing = TypeVar("Thing")

DTYPES = {"fp32": torch.float32, "fp16": torch.float16}


class ReclaimNotice:
    """Given at SIGTERM or SIGUSR1: by the first process of this rank's pod, or by mpirun, which passes SIGUSR1 on."""

    def __init__(self) -> None:
        self.given = False
        signal.signal(signal.SIGTERM, self._take)
        signal.signal(signal.SIGUSR1, self._take)

    def _take(self, _signal: int, _frame: FrameType | None) -> None:
        self.given = True


@dataclass(frozen=True)
class Team:
    """The ranks, this one's device, and a group on the CPU for what is not gradients: no GPU has to wait for it."""

    place: Place
    device: torch.device
    control: Any

    @classmethod
    def assemble(cls, place: Place) -> "Team":
        """Join all ranks: nccl where there are GPUs, gloo elsewhere.

        Raises:
            TrainingError: see `meeting_point`; or this host has fewer GPUs than ranks.
        """
        gpus = torch.cuda.device_count()
        if 0 < gpus < place.local_size:
            raise TrainingError(f"{place.local_size} ranks on a host with {gpus} GPUs; start one for each GPU")
        device = torch.device("cuda", place.local_rank) if gpus else torch.device("cpu")
        if gpus:
            torch.cuda.set_device(device)
        backend = "nccl" if gpus else "gloo"
        if started_by_torchrun(os.environ):
            # The ranks meet at torchrun's own store, of which PyTorch knows by the environment.
            dist.init_process_group(backend)
            return cls(place, device, dist.new_group(backend="gloo"))
        if place.size == 1:
            store: Any = dist.HashStore()
        else:
            host, port = meeting_point(os.environ, place)
            store = dist.TCPStore(host, port, place.size, place.rank == 0, timedelta(minutes=5))
        dist.init_process_group(backend, store=store, rank=place.rank, world_size=place.size)
        return cls(place, device, dist.new_group(backend="gloo"))

    def say(self, line: str) -> None:
        if self.place.rank == 0:
            print(line, flush=True)

    def say_network(self, nccl_log: Path | None) -> None:
        """Say what the gradients take between hosts, and how fast it is; NCCL connects the ranks here.

        Raises:
            TrainingError: NCCL has no network of the name NCCL_NET.
        """
        if self.device.type == "cpu" or not self.place.several_hosts:
            return
        sums = torch.zeros(network.SIZE // 4, device=self.device)

        def all_reduce() -> None:
            dist.all_reduce(sums)
            torch.cuda.synchronize()

        try:
            bandwidth = network.bus_bandwidth(all_reduce, self.place.size)
        except RuntimeError as failure:
            if problem := network.missing_network(str(failure), os.environ):
                raise TrainingError(problem) from None
            raise
        log = nccl_log.read_text(errors="replace") if nccl_log and nccl_log.exists() else ""
        self.say(network.network_line(log, bandwidth, os.environ))

    def total(self, *values: float) -> list[float]:
        """The sums of ``values`` over all ranks."""
        sums = torch.tensor(values, dtype=torch.float64)
        dist.all_reduce(sums, group=self.control)
        return sums.tolist()

    def from_first(self, thing: Thing) -> Thing:
        """What rank 0 has."""
        box = [thing]
        dist.broadcast_object_list(box, src=0, group=self.control)
        return box[0]


class Training:
    """Model, optimizer and the number of steps and images that are behind them."""

    def __init__(self, args: argparse.Namespace, team: Team, images: Images) -> None:
        self.args, self.team, self.images = args, team, images
        self.step = self.position = 0
        torch.manual_seed(args.seed)
        self.model = Classifier(images.pixels.shape[1], int(images.labels.max()) + 1).to(team.device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=args.learning_rate, momentum=0.9)
        self._resume()
        self.exchange = Exchange(DTYPES[args.allreduce_dtype], team.place.size)
        self.parallel = DistributedDataParallel(self.model, bucket_cap_mb=args.bucket_mib)
        self.parallel.register_comm_hook(self.exchange, average)

    def _resume(self) -> None:
        """Rank 0 reads; all go on with what it read."""
        team = self.team
        state = None
        problem = ""
        if team.place.rank == 0:
            try:
                state = checkpoints.newest(self.args.checkpoints, team.say)
            except TrainingError as error:
                problem = str(error)
        state, problem = team.from_first((state, problem))
        if problem:
            raise TrainingError(problem)
        if state is None:
            return
        try:
            self.model.load_state_dict(state["model"])
            # The momentum goes on; the learning rate is the command line's, which may have been changed.
            self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": state["optimizer"]})
        except (RuntimeError, ValueError) as failure:
            reason = str(failure).splitlines()[0]
            raise TrainingError(f"{self.args.checkpoints}: is of another model; give --checkpoints: {reason}") from None
        self.step, self.position = state["step"], state["position"]
        team.say(f"resumed step={self.step}")

    def advance(self) -> torch.Tensor:
        """One step; returns this rank's loss.

        The random numbers of a step (mirroring, noise, dropout) come from the place in the stream of images alone, so
        that a run that was interrupted computes the same as one that was not.
        """
        start = self.position + self.team.place.rank * self.args.batch
        torch.manual_seed(self.args.seed + start)
        pixels, labels = batch_at(start, self.args.batch, self.images, self.args.seed)
        self.parallel.train()
        scores = self.parallel(varied(pixels).to(self.team.device))
        loss = nn.functional.cross_entropy(scores, labels.to(self.team.device))
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.step += 1
        self.position += self.team.place.size * self.args.batch
        return loss.detach()

    def save(self) -> None:
        """Rank 0 writes, all wait: no rank ends the job while the file is half-written."""
        if self.team.place.rank == 0:
            model, optimizer = self.model.state_dict(), self.optimizer.state_dict()["state"]
            state = {"step": self.step, "position": self.position, "model": model, "optimizer": optimizer}
            self.team.say(f"saved {checkpoints.save(self.args.checkpoints, state)}")
        dist.barrier(group=self.team.control)

    def accuracy(self, test: Images) -> float:
        """Share of ``test`` that is classified rightly; each rank takes every size-th image."""
        place = self.team.place
        pixels, labels = test.pixels[place.rank :: place.size], test.labels[place.rank :: place.size]
        self.model.eval()
        with torch.no_grad():
            parts = pixels.split(256)
            found = [self.model(part.float().div(255).to(self.team.device)).argmax(1).cpu() for part in parts]
        right, seen = self.team.total(float((torch.cat(found) == labels).sum()), float(len(labels)))
        return right / seen


def train(args: argparse.Namespace, team: Team, notice: ReclaimNotice) -> int:
    """Train to the last step, or until a rank gets notice; returns the exit code."""
    if args.synthetic:
        images, test = synthetic_images(4096, args.seed), synthetic_images(1024, args.seed + 1)
    else:
        images, test = load_images(args.data / "train.npz"), load_images(args.data / "test.npz")
    training = Training(args, team, images)
    exchange = training.exchange
    parameters = sum(value.numel() for value in training.model.parameters())
    team.say(f"ranks={team.place.size} device={team.device.type} parameters={parameters} step={training.step}")
    saved = training.step
    losses: list[torch.Tensor] = []
    since = perf_counter()
    while training.step < args.steps:
        losses.append(training.advance())
        if training.step % args.log_every == 0 or training.step == args.steps:
            steps, seconds = len(losses), perf_counter() - since
            loss = team.total(float(torch.stack(losses).mean()))[0] / team.place.size
            team.say(
                f"step={training.step} loss={loss:.4f} it/s={steps / seconds:.2f}"
                f" bytes/step={exchange.payload_bytes // steps} dtype={args.allreduce_dtype}"
                f" buckets={exchange.buckets / steps:g} head_start_ms={1000 * exchange.head_start / steps:.2f}"
            )
            if loss != loss or loss == float("inf"):
                raise TrainingError(f"the loss is {loss} at step {training.step}; give a smaller --learning-rate")
            losses, since = [], perf_counter()
            exchange.reset()
        if training.step % args.checkpoint_every == 0 or training.step == args.steps:
            training.save()
            saved = training.step
        # Together, because a rank that left alone would leave the others waiting in their next exchange.
        if training.step % args.notice_every == 0 and team.total(float(notice.given))[0]:
            if saved != training.step:
                training.save()
            team.say(f"reclaimed step={training.step}: start again to go on")
            return RECLAIMED
    accuracy = training.accuracy(test)
    team.say(f"done step={training.step} accuracy={accuracy:.4f}")
    if team.place.rank == 0 and args.outputs:
        publish(args.outputs, {"steps": training.step, "accuracy": accuracy, "learning_rate": args.learning_rate})
    return 0


def of_another_rank(failure: RuntimeError) -> bool:
    """Whether PyTorch says that another rank is gone; it has no class of its own for that."""
    words = ("gloo", "Gloo", "NCCL", "TCPStore", "Connection", "connect", "Broken pipe")
    return any(word in str(failure).partition("\n")[0] for word in words)


def leave(message: str) -> NoReturn:
    """End this rank alone, with ``message`` as its one line and exit code 1.

    At once, because the threads that still exchange with other ranks may never end: Python's own end would wait for
    them, or the C++ runtime would abort (SIGABRT) when it finds them running.
    """
    print(f"train.py: {message}", file=sys.stderr, flush=True)
    sys.stdout.flush()
    os._exit(1)


def main() -> int:
    """Exit code 0 at the last step, 143 after notice, 1 with one line otherwise, 2 for wrong arguments."""
    args = arguments()
    notice = ReclaimNotice()
    who = ""
    try:
        place = place_in_job(os.environ)
        who = f"rank {place.rank}: "
        nccl_log = network.keep_nccl_log(os.environ) if place.rank == 0 else None
        team = Team.assemble(place)
        team.say_network(nccl_log)
        code = train(args, team, notice)
    except TrainingError as error:
        leave(f"{who}{error}")
    except RuntimeError as failure:
        if not of_another_rank(failure):
            raise
        leave(f"{who}lost another rank; start again to go on: {str(failure).splitlines()[0]}")
    dist.destroy_process_group()
    return code


if __name__ == "__main__":
    sys.exit(main())
