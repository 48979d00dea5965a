"""A Python language host for the Pulumi engine, on the gRPC stubs that Pulumi's SDK ships.

The engine starts it as `pulumi-language-python [flags] <engine address>`, reads one line from its standard output (the
port on 127.0.0.1 at which it serves `pulumirpc.LanguageRuntime`), and asks it to run programs, policy packs and
provider plugins. It is used where the engine was built from its Go module, which has no language hosts in it; Pulumi's
own releases bring their own.

Runtime options understood (Pulumi.yaml, PulumiPolicy.yaml, PulumiPlugin.yaml): `virtualenv`, a directory relative to
the project's root; without it the environment that this host itself runs in is used. `toolchain` and `typechecker` are
ignored.

Start-up counts: every `pulumi` command starts one host, and it lives as long as the command.
"""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from concurrent import futures
from pathlib import Path
from typing import NoReturn

import grpc
from google.protobuf import empty_pb2
from google.protobuf.message import Message

from tools.pulumi.language_host.children import Children, output_of
from tools.pulumi.language_host.packages import program_dependencies, required_packages, site_directories


def _skip_sdk_imports() -> None:
    """Let `pulumi.runtime.proto` be imported without `pulumi` itself, which costs 0.4 s and is not needed here."""
    import importlib.util

    spec = importlib.util.find_spec("pulumi")
    if spec is None or not spec.submodule_search_locations:
        sys.exit(f"pulumi-language-python: {sys.executable} has no Pulumi SDK; install the package `pulumi`")
    root = spec.submodule_search_locations[0]
    for name in ("pulumi", "pulumi.runtime", "pulumi.runtime.proto"):
        package = types.ModuleType(name)
        package.__path__ = [str(Path(root, *name.split(".")[1:]))]
        sys.modules[name] = package


_skip_sdk_imports()
from pulumi.runtime.proto import language_pb2 as wire  # noqa: E402
from pulumi.runtime.proto import plugin_pb2  # noqa: E402

EXECUTOR = "pulumi-language-python-exec"

# What the executor exits with after it has shown the program's error to the user itself.
ALREADY_EXPLAINED = 32

# Seconds between two looks at whether the engine is still there.
ENGINE_CHECK_SECONDS = 0.5

MAX_MESSAGE_BYTES = 400 * 1024 * 1024  # the engine's own limit


class LanguageHost:
    """The calls of `pulumirpc.LanguageRuntime` that programs, policy packs and plugins need.

    Calls that are not here (code generation, packing) are answered as unimplemented.
    """

    def __init__(self, engine: str, children: Children) -> None:
        self._engine = engine
        self._children = children

    def Handshake(
        self, request: wire.LanguageHandshakeRequest, context: grpc.ServicerContext
    ) -> wire.LanguageHandshakeResponse:
        self._engine = request.engine_address
        return wire.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:
        from importlib.metadata import version

        return plugin_pb2.PluginInfo(version=version("pulumi"))

    def About(self, request: wire.AboutRequest, context: grpc.ServicerContext) -> wire.AboutResponse:
        python = interpreter(request.info, context)
        return wire.AboutResponse(executable=python, version=python_version(python))

    def GetRequiredPackages(
        self, request: wire.GetRequiredPackagesRequest, context: grpc.ServicerContext
    ) -> wire.GetRequiredPackagesResponse:
        sites = site_directories(interpreter(request.info, context))
        packages = required_packages(Path(request.info.program_directory), sites)
        return wire.GetRequiredPackagesResponse(packages=[package_dependency(package) for package in packages])

    def GetProgramDependencies(
        self, request: wire.GetProgramDependenciesRequest, context: grpc.ServicerContext
    ) -> wire.GetProgramDependenciesResponse:
        found = program_dependencies(site_directories(interpreter(request.info, context)))
        return wire.GetProgramDependenciesResponse(
            dependencies=[wire.DependencyInfo(name=name, version=version) for name, version in found]
        )

    def RuntimeOptionsPrompts(
        self, request: wire.RuntimeOptionsRequest, context: grpc.ServicerContext
    ) -> wire.RuntimeOptionsResponse:
        return wire.RuntimeOptionsResponse()

    def Cancel(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> empty_pb2.Empty:
        # Advisory: providers that this host runs still have calls to finish. The engine's interrupt ends the host.
        return empty_pb2.Empty()

    def InstallDependencies(
        self, request: wire.InstallDependenciesRequest, context: grpc.ServicerContext
    ) -> Iterator[wire.InstallDependenciesResponse]:
        """Make the environment of the `virtualenv` option from requirements.txt; without the option do nothing.

        Nor with one that is a link, as set-up makes in our packages: somebody else keeps it up to date. pip would put a
        copy of gpufleet in place of the checkout, while other programs run in that environment.
        """
        environment = virtualenv(request.info)
        requirements = Path(request.directory or request.info.program_directory, "requirements.txt")
        if environment is None or environment.is_symlink() or not requirements.exists():
            return
        python = str(environment / "bin" / "python")
        commands = [[python, "-m", "pip", "install", "--quiet", "-r", str(requirements)]]
        if not Path(python).exists():
            commands.insert(0, [sys.executable, "-m", "venv", str(environment)])
        for command in commands:
            child = self._start(command, str(requirements.parent), dict(os.environ), context, piped=True)
            for stream, data in output_of(child):
                yield wire.InstallDependenciesResponse(**{stream: data})
            if status := self._children.wait(child):
                context.abort(grpc.StatusCode.UNKNOWN, f"`{' '.join(command)}` ended with exit code {status}")

    def Run(self, request: wire.RunRequest, context: grpc.ServicerContext) -> wire.RunResponse:
        """Run a program to its end; its output is the host's own, which the engine shows."""
        python = interpreter(request.info, context)
        executor = find_executor()
        if executor is None:
            context.abort(grpc.StatusCode.NOT_FOUND, f"{EXECUTOR} is not on PATH; run set-up again")
        command = [python, "-u", executor]
        command += ["--monitor", request.monitor_address, "--engine", self._engine]
        command += ["--project", request.project, "--stack", request.stack, "--organization", request.organization]
        command += ["--root_directory", request.info.root_directory, "--pwd", request.pwd]
        command += ["--dry_run", str(request.dryRun).lower(), "--parallel", str(request.parallel)]
        command += [str(Path(request.info.program_directory, request.info.entry_point)), *request.args]
        env = environment_of(python, dict(os.environ))
        env["PULUMI_CONFIG"] = json.dumps(dict(request.config))
        env["PULUMI_CONFIG_SECRET_KEYS"] = json.dumps(list(request.configSecretKeys))
        child = self._start(command, request.pwd, env, context, piped=False)
        context.add_callback(lambda: self._children.end(child) if child.poll() is None else None)
        status = self._children.wait(child)
        if status == ALREADY_EXPLAINED or self._children.stopping:
            return wire.RunResponse(bail=True)
        return wire.RunResponse(error=f"Program exited with non-zero exit code: {status}" if status else "")

    def RunPlugin(
        self, request: wire.RunPluginRequest, context: grpc.ServicerContext
    ) -> Iterator[wire.RunPluginResponse]:
        """Run a policy pack (kind `analyzer`) or any other plugin, and stream what it writes, then its exit code.

        A policy pack is served by `pulumi.policy`, which takes the engine's address and the pack's directory; other
        plugins are directories with a `__main__.py`.
        """
        python = interpreter(request.info, context)
        directory = request.info.program_directory
        target = ["-m", "pulumi.policy"] if request.kind == "analyzer" else [directory]
        last = [directory] if request.kind == "analyzer" else []
        env = environment_of(python, dict(entry.split("=", 1) for entry in request.env if "=" in entry))
        child = self._start([python, "-u", *target, *request.args, *last], request.pwd, env, context, piped=True)
        # The engine stops a plugin by cancelling this call.
        context.add_callback(lambda: self._children.end(child) if child.poll() is None else None)
        for stream, data in output_of(child):
            yield wire.RunPluginResponse(stdout=data) if stream == "stdout" else wire.RunPluginResponse(stderr=data)
        yield wire.RunPluginResponse(exitcode=self._children.wait(child))

    def _start(
        self, command: list[str], cwd: str, env: dict[str, str], context: grpc.ServicerContext, *, piped: bool
    ) -> subprocess.Popen[bytes]:
        try:
            return self._children.start(command, cwd, env, piped=piped)
        except OSError as error:
            context.abort(grpc.StatusCode.UNKNOWN, f"could not start {command[0]}: {error.strerror or error}")


def virtualenv(info: wire.ProgramInfo) -> Path | None:
    """The directory that the `virtualenv` option names, or None without the option."""
    option = dict(info.options).get("virtualenv")
    return Path(info.root_directory, option) if isinstance(option, str) and option else None


def interpreter(info: wire.ProgramInfo, context: grpc.ServicerContext) -> str:
    """The Python to run with. Aborts the call where the `virtualenv` option names nothing that is there."""
    environment = virtualenv(info)
    if environment is None:
        return sys.executable
    python = environment / "bin" / "python"
    if not python.exists():
        context.abort(
            grpc.StatusCode.FAILED_PRECONDITION,
            f"runtime option virtualenv={info.options['virtualenv']}: {python} does not exist; "
            f"run `{sys.executable} -m venv {environment}` and install the program's requirements into it",
        )
    return str(python)


def python_version(python: str) -> str:
    """Its version, for instance 3.11.7: asked at every update, so it is not worth starting another interpreter."""
    if python == sys.executable:
        return ".".join(str(part) for part in sys.version_info[:3])
    for line in (Path(python).parent.parent / "pyvenv.cfg").read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition("=")
        if key.strip() in ("version", "version_info"):
            return value.strip()
    return ""


def environment_of(python: str, env: dict[str, str]) -> dict[str, str]:
    """`env` as after activating the virtual environment that `python` belongs to, if it does to one."""
    root = Path(python).parent.parent
    if (root / "pyvenv.cfg").exists():
        env["VIRTUAL_ENV"] = str(root)
        env["PATH"] = os.pathsep.join([str(root / "bin"), env.get("PATH", os.defpath)])
        env.pop("PYTHONHOME", None)
    return env


def find_executor() -> str | None:
    """Pulumi's own script that runs a program: beside the interpreter (where set-up links it) or on PATH."""
    beside = Path(sys.executable).with_name(EXECUTOR)
    return str(beside) if beside.exists() else shutil.which(EXECUTOR)


def package_dependency(package: dict[str, object]) -> plugin_pb2.PackageDependency:
    """The wire form of one record of `required_packages`."""
    from google.protobuf.json_format import ParseDict

    dependency = plugin_pb2.PackageDependency()
    ParseDict(package, dependency)
    return dependency


def handlers(host: LanguageHost) -> "grpc.GenericRpcHandler[Message, Message]":
    """The wire table of the service: method, request type, whether it answers with a stream."""
    table: list[tuple[Callable[..., object], type[Message], bool]] = [
        (host.Handshake, wire.LanguageHandshakeRequest, False),
        (host.GetPluginInfo, empty_pb2.Empty, False),
        (host.About, wire.AboutRequest, False),
        (host.GetRequiredPackages, wire.GetRequiredPackagesRequest, False),
        (host.GetProgramDependencies, wire.GetProgramDependenciesRequest, False),
        (host.RuntimeOptionsPrompts, wire.RuntimeOptionsRequest, False),
        (host.Cancel, empty_pb2.Empty, False),
        (host.InstallDependencies, wire.InstallDependenciesRequest, True),
        (host.Run, wire.RunRequest, False),
        (host.RunPlugin, wire.RunPluginRequest, True),
    ]
    methods = {}
    for method, request_type, streams in table:
        make = grpc.unary_stream_rpc_method_handler if streams else grpc.unary_unary_rpc_method_handler
        methods[method.__name__] = make(method, request_type.FromString, lambda message: message.SerializeToString())
    return grpc.method_handlers_generic_handler("pulumirpc.LanguageRuntime", methods)


def main() -> NoReturn:
    """Serve until the engine interrupts this process or is gone; then end what was started."""
    wake, signalled = os.pipe()
    os.set_blocking(signalled, False)
    # A signal reaches any thread; through the pipe it wakes this one at once.
    signal.set_wakeup_fd(signalled)
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, lambda *_: None)
    engine = os.getppid()
    children = Children()
    limits = [("grpc.max_receive_message_length", MAX_MESSAGE_BYTES), ("grpc.max_send_message_length", -1)]
    # A plugin holds its thread for as long as it lives.
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=64), options=limits)
    address = next((arg for arg in reversed(sys.argv[1:]) if not arg.startswith("-")), "")
    server.add_generic_rpc_handlers((handlers(LanguageHost(address, children)),))
    try:
        port = server.add_insecure_port("127.0.0.1:0")
    except RuntimeError:
        sys.exit("pulumi-language-python: no port of 127.0.0.1 is free")
    server.start()
    print(port, flush=True)
    # A killed engine interrupts nobody: this process is then handed to another parent.
    while not select.select([wake], [], [], ENGINE_CHECK_SECONDS)[0] and os.getppid() == engine:
        pass
    children.end_all()
    # At once: nobody is there to hear the answers, and the engine waits for this process.
    os._exit(0)
