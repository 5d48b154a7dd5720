#!/usr/bin/env bash
# Installs SDKs of large clouds for Python and Node.js into a folder, once.
#
#   tests/differential/examples/setup.sh FOLDER
set -euo pipefail

folder=$(mkdir -p "${1:?the folder}" && cd -P "$1" && pwd)
python=("pulumi>=3.200,<4" "pulumi-aws>=7,<8" "pulumi-azure-native>=2,<3" "pulumi-gcp>=8,<9" "pulumi-kubernetes>=4.28,<5"
  "pulumi-azure>=6,<7" pulumi-azuread pulumi-awsx pulumi-command pulumi-digitalocean pulumi-docker pulumi-eks pulumi-mysql
  pulumi-random pulumi-tls boto3 requests)
# 3.248.0 is the last SDK that runs on Node.js 20.
node=(@pulumi/pulumi@3.248.0 @pulumi/aws@7 @pulumi/gcp@8 @pulumi/kubernetes@4 @pulumi/azure@6 @pulumi/aws-apigateway @pulumi/awsx
  @pulumi/azuread @pulumi/command @pulumi/digitalocean @pulumi/docker @pulumi/docker-build @pulumi/eks @pulumi/random @pulumi/tls
  typescript@5 @types/node@20)

if [ ! -f "$folder/.complete" ]; then
  "${PYTHON:-python3}" -m venv "$folder/python"
  "$folder/python/bin/python" -m pip install --quiet "${python[@]}" grpcio pyyaml
  mkdir -p "$folder/node"
  echo '{"private": true}' >"$folder/node/package.json"
  npm install --prefix "$folder/node" --silent --no-audit --no-fund --legacy-peer-deps "${node[@]}"
  touch "$folder/.complete"
fi
echo "$folder"
