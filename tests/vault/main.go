// The server of HashiCorp Vault in memory, unsealed, with the engine `transit`.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"

	log "github.com/hashicorp/go-hclog"
	"github.com/hashicorp/vault/builtin/logical/transit"
	vaulthttp "github.com/hashicorp/vault/http"
	"github.com/hashicorp/vault/sdk/helper/consts"
	"github.com/hashicorp/vault/sdk/logical"
	"github.com/hashicorp/vault/sdk/physical/inmem"
	"github.com/hashicorp/vault/vault"
)

// The registry of plugins that the program contains beside its engines: there is none.
type noPlugins struct{}

func (noPlugins) Contains(string, consts.PluginType) bool { return false }

func (noPlugins) Get(string, consts.PluginType) (func() (interface{}, error), bool) {
	return nil, false
}

func (noPlugins) Keys(consts.PluginType) []string { return nil }

func (noPlugins) DeprecationStatus(string, consts.PluginType) (consts.DeprecationStatus, bool) {
	return consts.Unknown, false
}

func serve() error {
	logger := log.New(&log.LoggerOptions{Level: log.Error, Output: os.Stderr})
	storage, err := inmem.NewInmem(nil, logger)
	if err != nil {
		return err
	}
	core, err := vault.NewCore(&vault.CoreConfig{
		Physical:        storage,
		LogicalBackends: map[string]logical.Factory{"transit": transit.Factory},
		BuiltinRegistry: noPlugins{},
		DisableMlock:    true,
		Logger:          logger,
	})
	if err != nil {
		return err
	}
	shares := &vault.SealConfig{SecretShares: 1, SecretThreshold: 1}
	made, err := core.Initialize(context.Background(), &vault.InitParams{BarrierConfig: shares, RecoveryConfig: shares})
	if err != nil {
		return err
	}
	if _, err = core.Unseal(made.SecretShares[0]); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s %s\n", listener.Addr(), made.RootToken)
	return http.Serve(listener, vaulthttp.Handler.Handler(&vault.HandlerProperties{Core: core}))
}

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
