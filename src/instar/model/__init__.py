"""What the world of Kubernetes looks like to Instar: CRDs, resources, objects and their JSON. Values only."""
