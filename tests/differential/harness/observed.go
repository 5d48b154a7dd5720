package main

import (
	"strings"

	"github.com/pulumi/pulumi/pkg/v3/display"
	"github.com/pulumi/pulumi/pkg/v3/engine"
	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag"
	"github.com/pulumi/pulumi/sdk/v3/go/common/diag/colors"
)

// step is a step that began.
type step struct {
	Op  string `json:"op"`
	URN string `json:"urn"`
}

// message is something that the user was told.
type message struct {
	Severity string `json:"severity"`
	URN      string `json:"urn"`
	Text     string `json:"text"`
}

// observed is everything that is compared of an operation.
type observed struct {
	Steps    []step                `json:"steps"`
	Failed   []step                `json:"failed"`
	Calls    []call                `json:"calls"`
	Replies  map[string]*reply     `json:"replies"`
	State    *apitype.DeploymentV3 `json:"state"`
	Unsaved  bool                  `json:"unsaved"`
	Messages []message             `json:"messages"`
	Changes  map[string]int        `json:"changes"`
	Result   string                `json:"result"`
	// The error of the engine as a whole.
	Error string `json:"error"`
	// Trouble with the state, and what made the engine or the harness give up.
	Trouble string `json:"trouble"`
	Panic   string `json:"panic"`
}

func newObserved() *observed {
	return &observed{Steps: []step{}, Failed: []step{}, Messages: []message{}, Changes: map[string]int{}}
}

// take notes an event of the engine.
func (o *observed) take(event engine.Event) {
	switch event.Type {
	case engine.ResourcePreEvent:
		it := event.Payload().(engine.ResourcePreEventPayload)
		if it.Metadata.URN == "" {
			// An extension is applied to a provider: a step of no resource, which displays hide.
			return
		}
		o.Steps = append(o.Steps, stepOf(it.Metadata))
	case engine.ResourceOperationFailed:
		it := event.Payload().(engine.ResourceOperationFailedPayload)
		if it.Metadata.URN == "" {
			return
		}
		o.Failed = append(o.Failed, stepOf(it.Metadata))
	case engine.DiagEvent:
		it := event.Payload().(engine.DiagEventPayload)
		if it.Ephemeral || it.Severity == diag.Debug {
			return
		}
		o.Messages = append(o.Messages, message{
			Severity: string(it.Severity), URN: string(it.URN),
			Text: strings.TrimSpace(colors.Never.Colorize(it.Message)),
		})
	case engine.PolicyViolationEvent:
		it := event.Payload().(engine.PolicyViolationEventPayload)
		o.Messages = append(o.Messages, message{
			Severity: "policy " + string(it.EnforcementLevel), URN: string(it.ResourceURN),
			Text: it.PolicyPackName + " " + it.PolicyName + " " + strings.TrimSpace(colors.Never.Colorize(it.Message)),
		})
	case engine.PolicyRemediationEvent:
		it := event.Payload().(engine.PolicyRemediationEventPayload)
		o.Messages = append(o.Messages, message{
			Severity: "remediation", URN: string(it.ResourceURN), Text: it.PolicyPackName + " " + it.PolicyName,
		})
	case engine.SummaryEvent:
		o.Result = string(event.Payload().(engine.SummaryEventPayload).Result)
	}
}

func stepOf(it engine.StepEventMetadata) step {
	return step{Op: string(it.Op), URN: string(it.URN)}
}

// end notes what is known when everything is over.
func (o *observed) end(changes display.ResourceChanges, err error, records *recorder, program *program) {
	for op, count := range changes {
		if count != 0 {
			o.Changes[string(op)] = count
		}
	}
	if err != nil {
		o.Error = colors.Never.Colorize(err.Error())
	}
	o.Calls, o.Replies = records.calls, program.replies
}
