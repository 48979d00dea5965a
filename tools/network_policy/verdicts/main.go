// Verdicts of two other programs on flows under NetworkPolicies: Kubernetes' own meaning by cyclonus, and Cilium's by its
// policy engine. A question is a JSON document on standard input, the answer one on standard output.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"

	"github.com/cilium/cilium/pkg/identity"
	"github.com/cilium/cilium/pkg/identity/identitymanager"
	"github.com/cilium/cilium/pkg/k8s"
	ciliumio "github.com/cilium/cilium/pkg/k8s/apis/cilium.io"
	slim "github.com/cilium/cilium/pkg/k8s/slim/k8s/api/networking/v1"
	"github.com/cilium/cilium/pkg/labels"
	"github.com/cilium/cilium/pkg/option"
	"github.com/cilium/cilium/pkg/policy"
	"github.com/cilium/cilium/pkg/policy/types"
	testidentity "github.com/cilium/cilium/pkg/testutils/identity"
	testpolicy "github.com/cilium/cilium/pkg/testutils/policy"
	"github.com/cilium/cilium/pkg/u8proto"
	"github.com/mattfenwick/cyclonus/pkg/matcher"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
)

// peer is one end of a flow: a pod, which has a namespace, or an address. Of an address Entities names what Cilium knows
// it as beside the world: host, remote-node, kube-apiserver.
type peer struct {
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels"`
	Address   string            `json:"address"`
	Entities  []string          `json:"entities"`
}

type flow struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Protocol string `json:"protocol"`
	Port     uint16 `json:"port"`
}

type question struct {
	Policies []json.RawMessage `json:"policies"`
	Peers    map[string]peer   `json:"peers"`
	Flows    []flow            `json:"flows"`
}

type verdict struct {
	Kubernetes bool `json:"kubernetes"`
	Cilium     bool `json:"cilium"`
}

const namespaceLabel = "kubernetes.io/metadata.name"

func main() {
	var asked question
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		fail(err)
	}
	byKubernetes, err := kubernetesVerdicts(asked)
	if err != nil {
		fail(err)
	}
	byCilium, err := ciliumVerdicts(asked)
	if err != nil {
		fail(err)
	}
	answer := make([]verdict, len(asked.Flows))
	for i := range answer {
		answer[i] = verdict{byKubernetes[i], byCilium[i]}
	}
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func kubernetesVerdicts(asked question) ([]bool, error) {
	var policies []*networking.NetworkPolicy
	for _, text := range asked.Policies {
		each := &networking.NetworkPolicy{}
		if err := json.Unmarshal(text, each); err != nil {
			return nil, err
		}
		policies = append(policies, each)
	}
	judge := matcher.BuildNetworkPolicies(false, policies)
	verdicts := make([]bool, len(asked.Flows))
	for i, each := range asked.Flows {
		traffic := &matcher.Traffic{
			Source:       trafficPeer(asked.Peers[each.From]),
			Destination:  trafficPeer(asked.Peers[each.To]),
			ResolvedPort: int(each.Port),
			Protocol:     core.Protocol(each.Protocol),
		}
		verdicts[i] = judge.IsTrafficAllowed(traffic).IsAllowed()
	}
	return verdicts, nil
}

func trafficPeer(of peer) *matcher.TrafficPeer {
	if of.Namespace == "" {
		return &matcher.TrafficPeer{IP: of.Address}
	}
	return &matcher.TrafficPeer{IP: of.Address, Internal: &matcher.InternalPeer{
		PodLabels: of.Labels, Namespace: of.Namespace, NamespaceLabels: map[string]string{namespaceLabel: of.Namespace},
	}}
}

// ciliumVerdicts sets up the repository of policies as Cilium's own tests do (pkg/k8s/network_policy_test.go).
func ciliumVerdicts(asked question) ([]bool, error) {
	option.Config.EnableIPv4 = true
	// Cilium looks at policies only where its configuration says so; default is what its agent runs with.
	policy.SetPolicyEnabled(option.DefaultEnforcement)
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	identities, known := map[string]*identity.Identity{}, identity.IdentityMap{}
	number := identity.NumericIdentity(1000)
	for name, each := range asked.Peers {
		number++
		found, err := ciliumLabels(each)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		identities[name] = identity.NewIdentityFromLabelArray(number, found.Sort())
		known[number] = identities[name].LabelArray
	}
	manager := identitymanager.NewIDManager(log)
	repository := policy.NewPolicyRepository(log, known, nil, nil, manager, testpolicy.NewPolicyMetricsNoop())
	repository.GetSelectorCache().SetLocalIdentityNotifier(testidentity.NewDummyIdentityNotifier())
	manager.Subscribe(testpolicy.SelectorCacheObserver{Cache: repository.GetSubjectSelectorCache()})
	for _, text := range asked.Policies {
		each := &slim.NetworkPolicy{}
		if err := json.Unmarshal(text, each); err != nil {
			return nil, err
		}
		rules, err := k8s.ParseNetworkPolicy(log, "", each)
		if err != nil {
			return nil, err
		}
		repository.MustAddPolicyEntries(rules)
	}
	verdicts := make([]bool, len(asked.Flows))
	for i, each := range asked.Flows {
		protocol, err := u8proto.ParseProtocol(each.Protocol)
		if err != nil {
			return nil, err
		}
		sought := types.Flow{From: identities[each.From], To: identities[each.To], Proto: protocol, Dport: each.Port}
		found, _, _, err := policy.LookupFlow(log, repository, manager, sought)
		if err != nil {
			return nil, fmt.Errorf("%s to %s: %w", each.From, each.To, err)
		}
		verdicts[i] = found.Allowed()
	}
	return verdicts, nil
}

// ciliumLabels gives a peer the labels from which Cilium makes its identity: of nodes without their addresses, as
// resolveLabels of pkg/ipcache/metadata.go has it where policy-cidr-match-mode does not say nodes.
func ciliumLabels(of peer) (labels.LabelArray, error) {
	var found labels.LabelArray
	if of.Namespace != "" {
		found = append(found,
			labels.NewLabel(ciliumio.PodNamespaceLabel, of.Namespace, labels.LabelSourceK8s),
			labels.NewLabel(ciliumio.PodNamespaceMetaLabels+"."+namespaceLabel, of.Namespace, labels.LabelSourceK8s),
		)
		for key, value := range of.Labels {
			found = append(found, labels.NewLabel(key, value, labels.LabelSourceK8s))
		}
		return found, nil
	}
	node := false
	for _, entity := range of.Entities {
		found = append(found, labels.NewLabel(entity, "", labels.LabelSourceReserved))
		node = node || entity == labels.IDNameHost || entity == labels.IDNameRemoteNode
	}
	if node {
		return found, nil
	}
	address, err := netip.ParseAddr(of.Address)
	if err != nil {
		return nil, err
	}
	return append(found, labels.GetCIDRLabelArray(netip.PrefixFrom(address, address.BitLen()))...), nil
}
