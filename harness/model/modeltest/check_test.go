package modeltest_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"cairn/harness/model/modeltest"
)

// edit is a change that makes a legal request illegal, and what is said of it.
type edit struct{ from, to, says string }

// wrong checks that a legal request passes and that each edit is found.
func wrong(t *testing.T, check modeltest.Checker, legal string, edits map[string]edit) {
	t.Helper()
	if err := check([]byte(legal), 5000); err != nil {
		t.Fatalf("a legal request: %v", err)
	}
	for name, e := range edits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.Count(legal, e.from) != 1 {
				t.Fatalf("%q is not in the request once", e.from)
			}
			err := check([]byte(strings.Replace(legal, e.from, e.to, 1)), 5000)
			if err == nil || !strings.Contains(err.Error(), e.says) {
				t.Errorf("%q instead of %q: %v, want %q", e.to, e.from, err, e.says)
			}
		})
	}
}

// picture is bytes in base64.
var picture = base64.StdEncoding.EncodeToString([]byte("picture"))

// everywhere are the edits that mean the same in all interfaces.
func everywhere(more map[string]edit) map[string]edit {
	for name, e := range map[string]edit{
		"damaged bytes":        {"look at this", "look at \xf0\x9f", "valid UTF-8"},
		"half a pair":          {"look at this", `look \ud83d at`, "surrogate"},
		"other half of a pair": {"look at this", `look \ude42 at`, "surrogate"},
		"broken JSON":          {"look at this", `look "at`, "not a request"},
		"a blank text":         {"look at this", `\n `, "empty text"},
		"a type of file":       {"image/png", "image/tiff", "are not taken"},
		"a file without bytes": {picture, "?", "without bytes"},
		"too long":             {"look at this", strings.Repeat("look ", 4200), "window of 5000"},
	} {
		more[name] = e
	}
	return more
}

func TestChatCompletionsAreChecked(t *testing.T) {
	t.Parallel()
	legal := `{"max_completion_tokens":50,"messages":[
{"role":"system","content":"Be brief."},
{"role":"user","content":[{"type":"text","text":"look at this"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + picture + `"}}]},
{"role":"assistant","content":null,"tool_calls":[{"id":"a1","type":"function","function":{"name":"now","arguments":"{}"}},{"id":"a2","type":"function","function":{"name":"now","arguments":"{\"n\":2}"}}]},
{"role":"tool","tool_call_id":"a1","content":"one"},{"role":"tool","tool_call_id":"a2","content":"two"},
{"role":"assistant","content":"a picture"},
{"role":"user","content":[{"type":"text","text":"thanks"},{"type":"text","text":"really","cache_control":{"type":"ephemeral"}}]}],
"tools":[{"type":"function","function":{"name":"now","parameters":{"type":"object"}}}]}`
	wrong(t, modeltest.CheckOpenAI, legal, everywhere(map[string]edit{
		"a second call":          {`"id":"a2"`, `"id":"a1"`, "not unique"},
		"too long an id":         {`"id":"a2"`, `"id":"` + strings.Repeat("a", 41) + `"`, "not legal"},
		"an odd id":              {`"id":"a2"`, `"id":"a:2"`, "not legal"},
		"no result":              {`,{"role":"tool","tool_call_id":"a2","content":"two"}`, ``, "have no result"},
		"no results":             {`{"role":"tool","tool_call_id":"a1","content":"one"},{"role":"tool","tool_call_id":"a2","content":"two"},`, ``, "no results follow"},
		"an orphan":              {`"tool_call_id":"a2"`, `"tool_call_id":"a9"`, "answers no call"},
		"answered twice":         {`"tool_call_id":"a2"`, `"tool_call_id":"a1"`, "answers no call"},
		"a delayed result":       {`{"role":"tool","tool_call_id":"a2","content":"two"},`, `{"role":"user","content":"hm"},{"role":"tool","tool_call_id":"a2","content":"two"},`, "answers no call"},
		"no object":              {`"{\"n\":2}"`, `"[2]"`, "not a JSON object"},
		"a pair in arguments":    {`"{\"n\":2}"`, `"{\"n\":\"\\ud83d\"}"`, "surrogate"},
		"no text":                {`"content":"a picture"`, `"content":""`, "empty text"},
		"null":                   {`"content":"a picture"`, `"content":null`, "says nothing"},
		"a file of the model":    {`"content":"a picture"`, `"content":[{"type":"image_url","image_url":{"url":"data:image/gif;base64,AA=="}}]`, "did not send"},
		"a remote file":          {`"url":"data:image/png;base64,` + picture, `"url":"https://example.org/` + picture, "holds no bytes"},
		"two speakers":           {`"role":"assistant","content":"a picture"`, `"role":"user","content":"a picture"`, "in a row"},
		"the model last":         {`"content":"a picture"},`, `"content":"a picture"}],"other":[`, "spoke last"},
		"the model first":        {`{"role":"user","content":[{"type":"text","text":"look at this"}`, `{"role":"assistant","content":[{"type":"text","text":"look at this"}`, "begins with the person"},
		"a system prompt within": {`"role":"assistant","content":"a picture"`, `"role":"system","content":"a picture"`, "not in front"},
		"a role":                 {`"role":"assistant","content":"a picture"`, `"role":"robot","content":"a picture"`, "no role"},
		"a tool's name":          {`{"name":"now","parameters"`, `{"name":"no w","parameters"`, "not legal"},
		"a tool's schema":        {`"parameters":{"type":"object"}`, `"parameters":{"type":"array"}`, "no object"},
		"a mark outside":         {`"role":"assistant","content":"a picture"`, `"role":"assistant","content":"a picture","cache_control":{}`, "not in a block"},
		"many marks":             {`{"type":"text","text":"thanks"}`, strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"x","cache_control":{}},`, 4), ","), "5 marks"},
		"a large reply":          {`"max_completion_tokens":50`, `"max_completion_tokens":4900`, "a reply of 4900"},
		"nothing":                {`"messages":[`, `"messages":[],"other":[`, "no message"},
	}))
	pdf := `{"messages":[{"role":"user","content":[{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,` + picture + `"}}]}]}`
	wrong(t, modeltest.CheckOpenAI, pdf, map[string]edit{
		"a document's type": {"application/pdf", "application/zip", "are not taken"},
		"no name":           {`"a.pdf"`, `""`, "name of a file"},
		"another block":     {`"type":"file"`, `"type":"thing"`, "no block"},
	})
	if err := modeltest.CheckOpenAI([]byte(pdf), 1); err == nil {
		t.Error("a document costs nothing")
	}
}

func TestResponsesAreChecked(t *testing.T) {
	t.Parallel()
	legal := `{"max_output_tokens":50,"input":[
{"role":"system","content":"Be brief."},
{"role":"user","content":[{"type":"input_text","text":"look at this"},{"type":"input_image","image_url":"data:image/png;base64,` + picture + `"}]},
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look"}]},
{"type":"function_call","call_id":"a1","name":"now","arguments":"{}"},
{"type":"function_call","call_id":"a2","name":"now","arguments":"{}"},
{"role":"assistant","content":"and wait"},
{"type":"function_call_output","call_id":"a1","output":"one"},
{"type":"function_call_output","call_id":"a2","output":"two"}],
"tools":[{"type":"function","name":"now","parameters":{"type":"object"}}]}`
	wrong(t, modeltest.CheckResponses, legal, everywhere(map[string]edit{
		"no result":              {`"call_id":"a2","output":"two"`, `"call_id":"a1","output":"two"`, "have no result"},
		"an orphan":              {`"call_id":"a2","output":"two"`, `"call_id":"a3","output":"two"`, "answers no call"},
		"a second call":          {`"call_id":"a2","name"`, `"call_id":"a1","name"`, "not unique"},
		"an empty result":        {`"two"`, `""`, "empty text"},
		"arguments":              {`"a2","name":"now","arguments":"{}"`, `"a2","name":"now","arguments":"{"`, "not a JSON object"},
		"a block of the other":   {`"output_text"`, `"input_text"`, "no block"},
		"an item":                {`"type":"message","role":"assistant"`, `"type":"thing","role":"robot"`, "no item"},
		"a system prompt within": {`"type":"message","role":"assistant"`, `"type":"message","role":"system"`, "not in front"},
		"a tool's schema":        {`"parameters":{"type":"object"}`, `"parameters":null`, "no object"},
	}))
	pdf := `{"input":[{"role":"user","content":[{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,` + picture + `"}]}]}`
	wrong(t, modeltest.CheckResponses, pdf, map[string]edit{
		"a document's type": {"application/pdf", "application/zip", "are not taken"},
		"no name":           {`"a.pdf"`, `""`, "name of a file"},
	})
}

func TestMessagesAreChecked(t *testing.T) {
	t.Parallel()
	legal := `{"max_tokens":50,"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"messages":[
{"role":"user","content":[{"type":"text","text":"look at this"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + picture + `"}}]},
{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"a1","name":"now","input":{}},{"type":"tool_use","id":"a2","name":"now","input":{"n":2}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"a1","content":[{"type":"text","text":"one"}]},{"type":"tool_result","tool_use_id":"a2","content":"two"},{"type":"text","text":"and now?"}]},
{"role":"assistant","content":"a picture"},
{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}]}],
"tools":[{"name":"now","input_schema":{"type":"object"}}]}`
	legal = strings.Replace(legal, `"max_tokens"`, `"thinking":{"type":"disabled"},"max_tokens"`, 1)
	wrong(t, modeltest.CheckAnthropic, legal, everywhere(map[string]edit{
		"a second call":         {`"id":"a2"`, `"id":"a1"`, "not unique"},
		"an odd id":             {`"id":"a2"`, `"id":"a.2"`, "not legal"},
		"an orphan":             {`"tool_use_id":"a2"`, `"tool_use_id":"a9"`, "answers no call"},
		"no result":             {`{"type":"tool_result","tool_use_id":"a2","content":"two"},`, ``, "have no result"},
		"a result behind text":  {`{"type":"tool_result","tool_use_id":"a2"`, `{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"a2"`, "behind something else"},
		"results after another": {`"content":[{"type":"tool_result","tool_use_id":"a1"`, `"content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"a1"`, "no results follow"},
		"an empty result":       {`"text":"one"`, `"text":" "`, "empty text"},
		"arguments":             {`"input":{"n":2}`, `"input":[2]`, "not a JSON object"},
		"no seal":               {`"signature":"s"`, `"signature":""`, "not sealed"},
		"text behind a call":    {`"input":{"n":2}}`, `"input":{"n":2}},{"type":"text","text":"wait"}`, "text behind a call"},
		"reasoning alone":       {`"content":"a picture"`, `"content":[{"type":"thinking","thinking":"hm","signature":"s"}]`, "leads to nothing"},
		"a mark on reasoning":   {`"signature":"s"`, `"signature":"s","cache_control":{}`, "mark of a cached prefix on reasoning"},
		"a file of the model":   {`"content":"a picture"`, `"content":[{"type":"image"}]`, "did not send"},
		"two speakers":          {`"role":"assistant","content":"a picture"`, `"role":"user","content":"a picture"`, "in a row"},
		"the model last":        {`"content":"a picture"},`, `"content":"a picture"}],"other":[`, "spoke last"},
		"no content":            {`"content":"a picture"`, `"content":[]`, "says nothing"},
		"unreadable content":    {`"content":"a picture"`, `"content":7`, "that can be read"},
		"an empty system":       {"Be brief.", "", "empty text"},
		"a role":                {`"role":"assistant","content":"a picture"`, `"role":"system","content":"a picture"`, "no role"},
		"a block":               {`"type":"document"`, `"type":"thing"`, "no block"},
		"a document's type":     {"application/pdf", "text/html", "are not taken"},
		"no budget":             {`"max_tokens":50`, `"max_tokens":0`, "reply budget is missing"},
		"little reasoning":      {`"type":"disabled"`, `"type":"enabled","budget_tokens":1000`, "for reasoning"},
		"much reasoning":        {`"type":"disabled"`, `"type":"enabled","budget_tokens":2000`, "for reasoning"},
		"many marks":            {`{"type":"text","text":"and now?"}`, strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"x","cache_control":{}},`, 4), ","), "5 marks"},
		"a marked tool":         {`"tools":[{"name":"now"`, `"tools":[{"name":"t","input_schema":{"type":"object"},"cache_control":{}},{"name":"u","input_schema":{"type":"object"},"cache_control":{}},{"name":"v","input_schema":{"type":"object"},"cache_control":{}},{"name":"w","input_schema":{"type":"object"},"cache_control":{}},{"name":"now"`, "5 marks"},
		"a tool's schema":       {`"input_schema":{"type":"object"}`, `"input_schema":{}`, "no object"},
		"a large reply":         {`"max_tokens":50`, `"max_tokens":4000`, "a reply of 4000"},
	}))
}

func TestGeminiIsChecked(t *testing.T) {
	t.Parallel()
	legal := `{"generationConfig":{"maxOutputTokens":50},"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[
{"role":"user","parts":[{"text":"look at this"},{"inlineData":{"mimeType":"image/png","data":"` + picture + `"}}]},
{"role":"model","parts":[{"functionCall":{"id":"a1","name":"now","args":{}}},{"functionCall":{"id":"a2","name":"then","args":{"n":2}}}]},
{"role":"user","parts":[{"functionResponse":{"id":"a1","name":"now","response":{"result":"one"}}},{"functionResponse":{"id":"a2","name":"then","response":{"result":"two"}}}]},
{"role":"model","parts":[{"text":"a picture"}]},
{"role":"user","parts":[{"text":"thanks"}]}],
"tools":[{"functionDeclarations":[{"name":"now","parametersJsonSchema":{"type":"object"}}]}]}`
	wrong(t, modeltest.CheckGemini, legal, everywhere(map[string]edit{
		"a moving picture":       {"image/png", "image/gif", "are not taken"},
		"a second call":          {`"functionCall":{"id":"a2"`, `"functionCall":{"id":"a1"`, "not unique"},
		"an orphan":              {`"functionResponse":{"id":"a2"`, `"functionResponse":{"id":"a9"`, "answers no call"},
		"no result":              {`,{"functionResponse":{"id":"a2","name":"then","response":{"result":"two"}}}`, ``, "have no result"},
		"another tool's result":  {`"id":"a2","name":"then","response"`, `"id":"a2","name":"now","response"`, "was called"},
		"a nameless result":      {`"id":"a2","name":"then","response"`, `"id":"a2","response"`, "names no tool"},
		"a result beside text":   {`{"functionResponse":{"id":"a1"`, `{"text":"x"},{"functionResponse":{"id":"a1"`, "beside something else"},
		"a plain result":         {`{"result":"two"}`, `"two"`, "not a JSON object"},
		"arguments":              {`"args":{"n":2}`, `"args":[2]`, "not a JSON object"},
		"no parts":               {`[{"text":"a picture"}]`, `[]`, "says nothing"},
		"an empty part":          {`[{"text":"a picture"}]`, `[{}]`, "no meaning"},
		"a file of the model":    {`[{"text":"a picture"}]`, `[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]`, "no meaning"},
		"two speakers":           {`{"role":"model","parts":[{"text":"a picture"}]}`, `{"role":"user","parts":[{"text":"a picture"}]}`, "in a row"},
		"the model last":         {`{"text":"a picture"}]},`, `{"text":"a picture"}]}],"other":[`, "spoke last"},
		"a role":                 {`{"role":"model","parts":[{"text":"a picture"}]}`, `{"role":"assistant","parts":[{"text":"a picture"}]}`, "no role"},
		"an empty system prompt": {"Be brief.", " ", "empty text"},
		"a tool's schema":        {`{"type":"object"}`, `{}`, "no object"},
		"a large reply":          {`"maxOutputTokens":50`, `"maxOutputTokens":4900`, "a reply of 4900"},
	}))
}

func TestAServiceChecksEveryRequest(t *testing.T) {
	t.Parallel()
	var reports []string
	server := httptest.NewServer(modeltest.Checked(0, func(n int, body []byte, err error) {
		reports = append(reports, string(rune('0'+n))+" "+string(body)+" "+err.Error())
	}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(w, r.Body); err != nil {
			t.Error(err)
		}
	})))
	defer server.Close()
	const legal, illegal = `{"messages":[{"role":"user","content":"hi"}]}`, `{"messages":[]}`
	for _, c := range []struct {
		path, body string
		status     int
	}{
		{"/v1/models", "", http.StatusOK},
		{"/v1/chat/completions", legal, http.StatusOK},
		{"/v1/chat/completions", illegal, http.StatusBadRequest},
		{"/v1/messages", illegal, http.StatusBadRequest},
		{"/v1/responses", `{"input":[]}`, http.StatusBadRequest},
		{"/v1beta/models/m:streamGenerateContent", `{"contents":[]}`, http.StatusBadRequest},
	} {
		resp, err := http.Post(server.URL+c.path, "application/json", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != c.status || c.status == http.StatusOK && string(got) != c.body {
			t.Errorf("%s %s: %d %s", c.path, c.body, resp.StatusCode, got)
		}
	}
	if len(reports) != 4 || !strings.HasPrefix(reports[0], "2 "+illegal) || !strings.HasPrefix(reports[3], "5 ") {
		t.Errorf("reports %q", reports)
	}
}

func FuzzCheckers(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"tool_result"},{"type":"text"}]},{"role":"assistant","tool_calls":[{}]}]}`))
	f.Add([]byte(`{"input":[{"type":"function_call"},{"type":"function_call_output"}],"contents":[{"parts":[{"functionResponse":{}}]}]}`))
	f.Add([]byte(`{"tools":[{}],"system":7,"messages":[{"content":"\ud83d`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, path := range []string{"/chat/completions", "/responses", "/messages", "/m:streamGenerateContent"} {
			// What is no conversation is never one that is taken.
			if err := modeltest.CheckerOf(path)(body, 10); err == nil && !strings.Contains(string(body), "user") {
				t.Errorf("%s takes %s", path, body)
			}
		}
	})
}
