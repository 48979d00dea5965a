"""The services of a simulated AWS at one loopback address, for the clients of boto3.

A request's signature names the service and the region, and botocore's model of the service names the call. What a
call's input must be is judged by that model; calls that are not played are refused in one line. Not played: whether a
signature is right, and what it may do.
"""

import functools
import json
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

import botocore.session
from botocore import xform_name
from botocore.exceptions import UnknownServiceError
from botocore.model import OperationModel, ServiceModel
from botocore.validate import ParamValidator

from gpufleet.errors import UserError
from gpufleet_rehearsal.aws_batch.objects import XML, Answer
from gpufleet_rehearsal.aws_batch.rehearsed_region import PlayedServices
from gpufleet_rehearsal.aws_batch.rejection import AwsRejection
from gpufleet_rehearsal.loopback import LoopbackHandler

Opened = Callable[[str], AbstractContextManager[PlayedServices]]
"""Opens the services of a region for one request."""
_SCOPE = re.compile(r"Credential=[^/]+/\d+/(?P<region>[a-z0-9-]+)/(?P<service>[a-z0-9-]+)/aws4_request")

_FRAMES = {
    "rest-xml": "{}",
    "ec2": "<Response><Errors>{}</Errors></Response>",
    "query": "<ErrorResponse>{}</ErrorResponse>",
}
"""What is around an error, by the protocol of a service; the others speak JSON."""


def aws_handler(opened: Opened) -> type[BaseHTTPRequestHandler]:
    """A handler for all services."""

    class Handler(AwsHandler):
        open_region = staticmethod(opened)

    return Handler


class AwsHandler(LoopbackHandler):
    """One connection of a client."""

    open_region: Opened

    def answer(self, sent: bytes) -> None:
        scope = _SCOPE.search(self.headers.get("Authorization") or "")
        service, region = (scope["service"], scope["region"]) if scope else ("none", "none")
        try:
            self._send(self._answered(service, region, sent))
        except AwsRejection as rejection:
            self._send(_refusal(service, rejection))
        except UserError as error:
            self._send(_refusal(service, AwsRejection("ServerException", str(error), 507)))

    def _answered(self, service: str, region: str, sent: bytes) -> Answer:
        url = urlsplit(self.path)
        if service not in PlayedServices._fields:
            raise AwsRejection("NotImplemented", f"a rehearsal does not play {service} of AWS", 501)
        if service == "s3":
            query = {key: values[0] for key, values in parse_qs(url.query, keep_blank_values=True).items()}
            with self.open_region(region) as services:
                return services.s3.answer(self.command, unquote(url.path), query, self.headers, sent)
        call = self._call(service, url.path)
        arguments = _arguments(call, sent)
        with self.open_region(region) as services:
            work = getattr(getattr(services, service), xform_name(call.name), None)
            if work is None:
                raise AwsRejection("NotImplemented", f"a rehearsal does not play {service}:{call.name}", 501)
            return Answer(200, {}, json.dumps(work(**arguments)).encode())

    def _call(self, service: str, path: str) -> OperationModel:
        model, target = _model(service), str(self.headers.get("X-Amz-Target") or "")
        name = target.rpartition(".")[2] or _paths(service).get((self.command, path), "")
        if name not in model.operation_names:
            raise AwsRejection("NotImplemented", f"a rehearsal does not play {self.command} {path} of {service}", 501)
        return model.operation_model(name)

    def _send(self, answer: Answer) -> None:
        headers = {"Content-Type": "application/json", "x-amzn-RequestId": "1", **answer.headers}
        self.send(answer.status, headers, answer.body)


def _arguments(call: OperationModel, sent: bytes) -> Mapping[str, Any]:
    """Errors: AwsRejection for what the model does not allow."""
    arguments = json.loads(sent or b"{}")
    report = ParamValidator().validate(arguments, call.input_shape)
    if report.has_errors():
        raise AwsRejection("ClientException", " ".join(report.generate_report().split()))
    found: Mapping[str, Any] = arguments
    return found


def _refusal(service: str, rejection: AwsRejection) -> Answer:
    """An error in the form in which a service tells it."""
    frame = _FRAMES.get(_protocol(service))
    if frame:
        words = f"<Error><Code>{rejection.code}</Code><Message>{escape(rejection.words)}</Message></Error>"
        return Answer(rejection.status, XML, frame.format(words).encode())
    told = {"__type": rejection.code, "message": rejection.words}
    return Answer(rejection.status, {"x-amzn-errortype": rejection.code}, json.dumps(told).encode())


def _protocol(service: str) -> str:
    try:
        return str(_model(service).metadata["protocol"])
    except UnknownServiceError:
        return "json"


@functools.cache
def _model(service: str) -> ServiceModel:
    return botocore.session.get_session().get_service_model(service)


@functools.cache
def _paths(service: str) -> Mapping[tuple[str, str], str]:
    """The calls of a service by method and path."""
    calls = [_model(service).operation_model(name) for name in _model(service).operation_names]
    return {(str(each.http["method"]), str(each.http["requestUri"])): each.name for each in calls}
