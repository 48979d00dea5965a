// Judge a Grafana dashboard and Prometheus' rules: standard input has both, with metrics as exporters give them;
// standard output says what Grafana's schema rejects, and what Prometheus' engine answers to each query.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"slices"
	"sort"
	"time"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	query "github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

type input struct {
	Dashboard json.RawMessage `json:"dashboard"`
	Rules     string          `json:"rules"`
	Scrapes   []scrape        `json:"scrapes"`
	Queries   []string        `json:"queries"`
	// Times in seconds: the rules are evaluated at each, and every query over all of them.
	From, To, Step int64
}

// scrape is one answer of an exporter, and the labels that Prometheus gives its target.
type scrape struct {
	At          int64             `json:"at"`
	Text        string            `json:"text"`
	Target      map[string]string `json:"target"`
	HonorLabels bool              `json:"honor_labels"`
}

type output struct {
	Dashboard []string          `json:"dashboard"`
	Rules     []string          `json:"rules"`
	Recorded  map[string]int    `json:"recorded"`
	Results   map[string]result `json:"results"`
}

type result struct {
	Error  string   `json:"error"`
	Series []series `json:"series"`
}

type series struct {
	Labels map[string]string `json:"labels"`
	Points [][2]float64      `json:"points"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	var asked input
	decoder := json.NewDecoder(in)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&asked); err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	if asked.Step <= 0 || asked.To < asked.From {
		return errors.New("standard input: from, to and step must be times in order")
	}
	told := output{Dashboard: validate(asked.Dashboard), Rules: []string{}, Recorded: map[string]int{}, Results: map[string]result{}}
	known := &samples{byLabels: map[string]*held{}}
	for _, each := range asked.Scrapes {
		if err := known.read(each); err != nil {
			return err
		}
	}
	language := parser.NewParser(parser.Options{})
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 10_000_000, Timeout: time.Minute, LookbackDelta: 5 * time.Minute,
		EnableAtModifier: true, EnableNegativeOffset: true, Parser: language,
	})
	groups, faults := rulefmt.Parse([]byte(asked.Rules), false, model.UTF8Validation, language, slog.New(slog.DiscardHandler))
	for _, fault := range faults {
		told.Rules = append(told.Rules, fault.Error())
	}
	if len(faults) == 0 {
		record(engine, known, groups, asked, &told)
	}
	for _, text := range asked.Queries {
		told.Results[text] = answer(engine, known, text, asked)
	}
	return json.NewEncoder(out).Encode(told)
}

// validate says what Grafana's own types reject: unknown fields, missing ones, wrong types, broken constraints.
func validate(raw []byte) []string {
	runtime := cog.NewRuntime()
	runtime.RegisterPanelcfgVariant(timeseries.VariantConfig())
	runtime.RegisterPanelcfgVariant(stat.VariantConfig())
	runtime.RegisterPanelcfgVariant(bargauge.VariantConfig())
	runtime.RegisterDataqueryVariant(query.VariantConfig())
	found := []string{}
	var made dashboard.Dashboard
	// Its errors are lists, which may be empty: an empty one is no error, but not nil either.
	for _, err := range []error{made.UnmarshalJSONStrict(raw), made.Validate()} {
		var listed cog.BuildErrors
		if errors.As(err, &listed) {
			for _, each := range listed {
				found = append(found, each.Error())
			}
		} else if err != nil {
			found = append(found, err.Error())
		}
	}
	for _, each := range made.Panels {
		if each.Panel == nil {
			continue
		}
		if _, there := runtime.ConfigForPanelcfgVariant(each.Panel.Type); !there {
			found = append(found, fmt.Sprintf("panel of type %s: its options are not judged", each.Panel.Type))
		}
	}
	return found
}

// record evaluates the rules in their order at each time, as Prometheus does, and keeps what they say.
func record(engine *promql.Engine, known *samples, groups *rulefmt.RuleGroups, asked input, told *output) {
	for at := asked.From; at <= asked.To; at += asked.Step {
		for _, group := range groups.Groups {
			for _, rule := range group.Rules {
				if rule.Record == "" {
					continue
				}
				vector, err := instant(engine, known, rule.Expr, at)
				if err != nil {
					text := fmt.Sprintf("%s: %v", rule.Record, err)
					if !slices.Contains(told.Rules, text) {
						told.Rules = append(told.Rules, text)
					}
					continue
				}
				told.Recorded[rule.Record] = max(told.Recorded[rule.Record], len(vector))
				for _, sample := range vector {
					builder := labels.NewBuilder(sample.Metric)
					builder.Set(labels.MetricName, rule.Record)
					for name, value := range group.Labels {
						builder.Set(name, value)
					}
					for name, value := range rule.Labels {
						builder.Set(name, value)
					}
					known.add(builder.Labels(), at*1000, sample.F)
				}
			}
		}
	}
}

func instant(engine *promql.Engine, known *samples, text string, at int64) (promql.Vector, error) {
	asked, err := engine.NewInstantQuery(context.Background(), known, nil, text, time.Unix(at, 0))
	if err != nil {
		return nil, err
	}
	defer asked.Close()
	found := asked.Exec(context.Background())
	if found.Err != nil {
		return nil, found.Err
	}
	switch value := found.Value.(type) {
	case promql.Vector:
		return slices.Clone(value), nil
	case promql.Scalar:
		return promql.Vector{{T: value.T, F: value.V}}, nil
	}
	return nil, fmt.Errorf("it gives a %s", found.Value.Type())
}

func answer(engine *promql.Engine, known *samples, text string, asked input) result {
	told := result{Series: []series{}}
	made, err := engine.NewRangeQuery(context.Background(), known, nil, text,
		time.Unix(asked.From, 0), time.Unix(asked.To, 0), time.Duration(asked.Step)*time.Second)
	if err != nil {
		return result{Error: err.Error(), Series: told.Series}
	}
	defer made.Close()
	found := made.Exec(context.Background())
	matrix, err := found.Matrix()
	if err != nil {
		return result{Error: err.Error(), Series: told.Series}
	}
	for _, each := range matrix {
		line := series{Labels: each.Metric.Map(), Points: [][2]float64{}}
		for _, point := range each.Floats {
			if !math.IsNaN(point.F) && !math.IsInf(point.F, 0) {
				line.Points = append(line.Points, [2]float64{float64(point.T) / 1000, point.F})
			}
		}
		told.Series = append(told.Series, line)
	}
	return told
}

// read takes an exporter's answer in, with its target's labels, as Prometheus' scraper does: where both have one, the
// exporter's stays if honor_labels is set, and becomes exported_<name> if not.
func (known *samples) read(each scrape) error {
	found := textparse.NewPromParser([]byte(each.Text), labels.NewSymbolTable(), false)
	for {
		entry, err := found.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("exposition at %d: %w", each.At, err)
		}
		if entry != textparse.EntrySeries {
			continue
		}
		var said labels.Labels
		found.Labels(&said)
		_, _, value := found.Series()
		builder := labels.NewBuilder(said)
		names := make([]string, 0, len(each.Target))
		for name := range each.Target {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			own := said.Get(name)
			if own != "" && each.HonorLabels {
				continue
			}
			if own != "" {
				builder.Set(model.ExportedLabelPrefix+name, own)
			}
			builder.Set(name, each.Target[name])
		}
		known.add(builder.Labels(), each.At*1000, value)
	}
}
