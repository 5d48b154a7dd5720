import { componentProviderHost } from "@pulumi/pulumi/provider/experimental";

import { Greeting } from "./greeting";

componentProviderHost({ name: "${PROJECT}", components: [Greeting] });
