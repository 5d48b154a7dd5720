// A language host made of two: calls go to the host that HYBRID_HOST names, except those that HYBRID_OFFICIAL lists, which the
// reference's host answers. tests/suites/yaml.sh lays this file over the suite of the reference.

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
)

type hybrid struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	ours     pulumirpc.LanguageRuntimeClient
	official pulumirpc.LanguageRuntimeServer
	only     map[string]bool
}

// HYBRID_HOST: our host's binary; HYBRID_OFFICIAL: calls left to the official host, comma separated.
func newHybrid(t *testing.T, official pulumirpc.LanguageRuntimeServer, engineAddress string) pulumirpc.LanguageRuntimeServer {
	binary := os.Getenv("HYBRID_HOST")
	if binary == "" {
		return &recovering{official}
	}
	cmd := exec.Command(binary, engineAddress)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	reader := bufio.NewReader(stdout)
	port, err := reader.ReadString('\n')
	require.NoError(t, err)
	go func() { _, _ = io.Copy(os.Stderr, reader) }()
	conn, err := grpc.NewClient("127.0.0.1:"+strings.TrimSpace(port),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(1<<30), grpc.MaxCallSendMsgSize(1<<30)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	only := map[string]bool{}
	for _, w := range strings.Split(os.Getenv("HYBRID_OFFICIAL"), ",") {
		only[w] = true
	}
	fmt.Fprintln(os.Stderr, "hybrid host at", port)
	return &hybrid{ours: pulumirpc.NewLanguageRuntimeClient(conn), official: official, only: only}
}

func pick[Q, R any](h *hybrid, name string, ctx context.Context, q Q,
	ours func(context.Context, Q, ...grpc.CallOption) (R, error), off func(context.Context, Q) (R, error)) (R, error) {
	if h.only[name] {
		return off(ctx, q)
	}
	return ours(ctx, q)
}

func (h *hybrid) Handshake(ctx context.Context, q *pulumirpc.LanguageHandshakeRequest) (*pulumirpc.LanguageHandshakeResponse, error) {
	_, _ = h.official.Handshake(ctx, q)
	return h.ours.Handshake(ctx, q)
}
func (h *hybrid) GetRequiredPackages(ctx context.Context, q *pulumirpc.GetRequiredPackagesRequest) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return pick(h, "GetRequiredPackages", ctx, q, h.ours.GetRequiredPackages, h.official.GetRequiredPackages)
}
func (h *hybrid) Run(ctx context.Context, q *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	return pick(h, "Run", ctx, q, h.ours.Run, h.official.Run)
}
func (h *hybrid) GetPluginInfo(ctx context.Context, q *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return pick(h, "GetPluginInfo", ctx, q, h.ours.GetPluginInfo, h.official.GetPluginInfo)
}
func (h *hybrid) InstallDependencies(q *pulumirpc.InstallDependenciesRequest, s pulumirpc.LanguageRuntime_InstallDependenciesServer) error {
	if h.only["InstallDependencies"] {
		return h.official.InstallDependencies(q, s)
	}
	c, err := h.ours.InstallDependencies(s.Context(), q)
	if err != nil {
		return err
	}
	for {
		m, err := c.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.Send(m); err != nil {
			return err
		}
	}
}
func (h *hybrid) RunPlugin(q *pulumirpc.RunPluginRequest, s pulumirpc.LanguageRuntime_RunPluginServer) error {
	if h.only["RunPlugin"] {
		return h.official.RunPlugin(q, s)
	}
	c, err := h.ours.RunPlugin(s.Context(), q)
	if err != nil {
		return err
	}
	for {
		m, err := c.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.Send(m); err != nil {
			return err
		}
	}
}
func (h *hybrid) RuntimeOptionsPrompts(ctx context.Context, q *pulumirpc.RuntimeOptionsRequest) (*pulumirpc.RuntimeOptionsResponse, error) {
	return pick(h, "RuntimeOptionsPrompts", ctx, q, h.ours.RuntimeOptionsPrompts, h.official.RuntimeOptionsPrompts)
}
func (h *hybrid) Template(ctx context.Context, q *pulumirpc.TemplateRequest) (*pulumirpc.TemplateResponse, error) {
	return pick(h, "Template", ctx, q, h.ours.Template, h.official.Template)
}
func (h *hybrid) About(ctx context.Context, q *pulumirpc.AboutRequest) (*pulumirpc.AboutResponse, error) {
	return pick(h, "About", ctx, q, h.ours.About, h.official.About)
}
func (h *hybrid) GetProgramDependencies(ctx context.Context, q *pulumirpc.GetProgramDependenciesRequest) (*pulumirpc.GetProgramDependenciesResponse, error) {
	return pick(h, "GetProgramDependencies", ctx, q, h.ours.GetProgramDependencies, h.official.GetProgramDependencies)
}
func (h *hybrid) GenerateProgram(ctx context.Context, q *pulumirpc.GenerateProgramRequest) (*pulumirpc.GenerateProgramResponse, error) {
	return pick(h, "GenerateProgram", ctx, q, h.ours.GenerateProgram, h.official.GenerateProgram)
}
func (h *hybrid) GenerateProject(ctx context.Context, q *pulumirpc.GenerateProjectRequest) (r *pulumirpc.GenerateProjectResponse, err error) {
	// The reference's generator panics where it has no form for something.
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	return pick(h, "GenerateProject", ctx, q, h.ours.GenerateProject, h.official.GenerateProject)
}
func (h *hybrid) GeneratePackage(ctx context.Context, q *pulumirpc.GeneratePackageRequest) (*pulumirpc.GeneratePackageResponse, error) {
	return pick(h, "GeneratePackage", ctx, q, h.ours.GeneratePackage, h.official.GeneratePackage)
}
func (h *hybrid) Pack(ctx context.Context, q *pulumirpc.PackRequest) (*pulumirpc.PackResponse, error) {
	return pick(h, "Pack", ctx, q, h.ours.Pack, h.official.Pack)
}
func (h *hybrid) Link(ctx context.Context, q *pulumirpc.LinkRequest) (*pulumirpc.LinkResponse, error) {
	return pick(h, "Link", ctx, q, h.ours.Link, h.official.Link)
}
func (h *hybrid) Cancel(ctx context.Context, q *emptypb.Empty) (*emptypb.Empty, error) {
	return pick(h, "Cancel", ctx, q, h.ours.Cancel, h.official.Cancel)
}

type recovering struct{ pulumirpc.LanguageRuntimeServer }

func (h *recovering) GenerateProject(ctx context.Context, q *pulumirpc.GenerateProjectRequest) (r *pulumirpc.GenerateProjectResponse, err error) {
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	return h.LanguageRuntimeServer.GenerateProject(ctx, q)
}
