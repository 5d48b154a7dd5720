"""Key services on this machine: pretended ones that follow the published contracts to the letter, and moto for AWS."""
