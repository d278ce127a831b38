"""Translates a template of SAM into CloudFormation: translate.py TEMPLATE OUT. Paths of code stay paths."""
import json
import sys

from samtranslator.public.translator import ManagedPolicyLoader
from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse


class NoPolicies(ManagedPolicyLoader):
    """The managed policies of an account, which only roles would name."""

    def __init__(self):
        super().__init__(None)

    def load(self):
        return {}


def main(source, out):
    with open(source) as f:
        template = yaml_parse(f)
    # The translator takes code from S3 alone. hikyaku finds what is not there beside the template.
    for resource in template["Resources"].values():
        properties = resource.get("Properties", {})
        for name in "CodeUri", "ContentUri":
            if isinstance(properties.get(name), str) and not properties[name].startswith("s3://"):
                properties[name] = {"Bucket": "local", "Key": properties[name]}
    with open(out, "w") as f:
        json.dump(transform(template, {}, NoPolicies()), f, indent=1)


main(*sys.argv[1:])
