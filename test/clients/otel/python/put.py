"""Puts a message over HTTP, as a program does that is watched by OpenTelemetry: put.py URL COLLECTOR."""

import sys

import requests
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.requests import RequestsInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

provider = TracerProvider()  # whether it samples, OTEL_TRACES_SAMPLER says
provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(endpoint=sys.argv[2] + "/v1/traces")))
trace.set_tracer_provider(provider)
RequestsInstrumentor().instrument()
with trace.get_tracer("put").start_as_current_span("order"):
    requests.post(sys.argv[1], data="hello", headers={"Content-Type": "text/plain"}, timeout=60).raise_for_status()
provider.shutdown()
