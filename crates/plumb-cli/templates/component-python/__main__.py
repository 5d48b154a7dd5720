"""The provider of the components."""

from pulumi.provider.experimental import component_provider_host

from greeting import Greeting

if __name__ == "__main__":
    component_provider_host(name="${PROJECT}", components=[Greeting])
