"""Flat fields of the key and the subject move into objects, and the enums are spelled in capitals."""

from instar.conversion import Conversion, Spoke

KEY = {"keyAlgorithm": "algorithm", "keySize": "size", "keyEncoding": "encoding"}
OLD = {"RSA": "rsa", "ECDSA": "ecdsa", "PKCS1": "pkcs1", "PKCS8": "pkcs8"}
NEW = {old: new for new, old in OLD.items()}


def to_v1(certificate):
    spec = certificate.get("spec", {})
    key = {new: NEW.get(spec[old], spec[old]) for old, new in KEY.items() if old in spec}
    for old in KEY:
        spec.pop(old, None)
    if key:
        spec["privateKey"] = key
    if "organization" in spec:
        spec["subject"] = {"organizations": spec.pop("organization")}
    if "uriSANs" in spec:
        spec["uris"] = spec.pop("uriSANs")
    return certificate


def from_v1(certificate):
    spec = certificate.get("spec", {})
    key = spec.pop("privateKey", {})
    for old, new in KEY.items():
        if new in key and key[new] != "Ed25519":
            spec[old] = OLD.get(key[new], key[new])
    subject = spec.pop("subject", {})
    if "organizations" in subject:
        spec["organization"] = subject["organizations"]
    if "uris" in spec:
        spec["uriSANs"] = spec.pop("uris")
    return certificate


conversion = Conversion(
    group="cases.instar.dev",
    kind="Certificate",
    hub="v1",
    spokes=(Spoke(version="v1alpha2", to_hub=to_v1, from_hub=from_v1),),
)
