// Command streams stands in for an API server with one pod that echoes: exec and attach give back what comes on standard
// input, port-forward what comes on a connection, over SPDY and over WebSocket. It prints its port when it is ready.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/gorilla/websocket"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

const (
	success = `{"metadata":{},"status":"Success"}`
	wait    = 20 * time.Second
)

var answers = map[string]string{
	"/api":                           `{"kind":"APIVersions","versions":["v1"]}`,
	"/apis":                          `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
	"/api/v1":                        `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get"]}]}`,
	"/api/v1/namespaces/kube-system": `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"kube-system","uid":"cluster-1","resourceVersion":"1"}}`,
	"/api/v1/namespaces/lab/pods/p":  `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"lab","uid":"u","resourceVersion":"1"},"spec":{"containers":[{"name":"c","image":"i","stdin":true}]},"status":{"phase":"Running"}}`,
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, http.HandlerFunc(serve)))
}

func serve(w http.ResponseWriter, request *http.Request) {
	overWebSocket := websocket.IsWebSocketUpgrade(request)
	// Tells the test which way a client came: "exec SPDY", "portforward WebSocket".
	if verb := path.Base(request.URL.Path); verb == "exec" || verb == "attach" || verb == "portforward" {
		fmt.Printf("%s %s\n", verb, map[bool]string{true: "WebSocket", false: "SPDY"}[overWebSocket])
		switch {
		case verb == "portforward":
			forward(w, request, overWebSocket)
		case overWebSocket:
			echoChannels(w, request)
		default:
			echoStreams(w, request)
		}
		return
	}
	w.Header().Set("Content-Type", "application/json")
	answer, found := answers[request.URL.Path]
	if !found {
		w.WriteHeader(http.StatusNotFound)
		answer = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"NotFound","code":404}`
	}
	fmt.Fprint(w, answer)
}

// echoStreams serves exec and attach over SPDY: a stream each for errors, input and output.
func echoStreams(w http.ResponseWriter, request *http.Request) {
	if _, err := httpstream.Handshake(request, w, []string{"v4.channel.k8s.io"}); err != nil {
		return
	}
	query := request.URL.Query()
	expected := 1
	for _, name := range []string{"stdin", "stdout", "stderr"} {
		if query.Get(name) == "true" || query.Get(name) == "1" {
			expected++
		}
	}
	arrived := make(chan httpstream.Stream)
	connection := spdy.NewResponseUpgrader().UpgradeResponse(w, request, func(stream httpstream.Stream, replied <-chan struct{}) error {
		go func() {
			<-replied
			arrived <- stream
		}()
		return nil
	})
	if connection == nil {
		return
	}
	defer connection.Close()
	streams := map[string]httpstream.Stream{}
	for len(streams) < expected {
		select {
		case stream := <-arrived:
			streams[stream.Headers().Get("streamType")] = stream
		case <-time.After(wait):
			return
		}
	}
	if streams["stdin"] != nil {
		io.Copy(streams["stdout"], streams["stdin"])
	}
	fmt.Fprint(streams["error"], success)
	for _, stream := range streams {
		stream.Close()
	}
	// The client ends the connection when it has read all.
	select {
	case <-connection.CloseChan():
	case <-time.After(wait):
	}
}

// echoChannels serves exec and attach over WebSocket: each message begins with the number of its channel.
// Source: KEP-4006, v5.channel.k8s.io.
func echoChannels(w http.ResponseWriter, request *http.Request) {
	upgrader := websocket.Upgrader{Subprotocols: []string{"v5.channel.k8s.io"}}
	connection, err := upgrader.Upgrade(w, request, nil)
	if err != nil {
		return
	}
	defer connection.Close()
	for {
		_, message, err := connection.ReadMessage()
		if err != nil {
			return
		}
		switch {
		case len(message) > 0 && message[0] == 0:
			connection.WriteMessage(websocket.BinaryMessage, append([]byte{1}, message[1:]...))
		case len(message) > 1 && message[0] == 255:
			connection.WriteMessage(websocket.BinaryMessage, append([]byte{3}, success...))
			connection.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""))
			return
		}
	}
}

// forward serves port-forward: SPDY, by itself or in a tunnel of WebSocket messages, with a stream for errors and one for
// data for each connection.
func forward(w http.ResponseWriter, request *http.Request, overWebSocket bool) {
	errors := make(chan httpstream.Stream, 16)
	handler := func(stream httpstream.Stream, replied <-chan struct{}) error {
		if stream.Headers().Get("streamType") == "error" {
			errors <- stream
			return nil
		}
		go func() {
			<-replied
			io.Copy(stream, stream)
			stream.Close()
			(<-errors).Close()
		}()
		return nil
	}
	var connection httpstream.Connection
	if overWebSocket {
		protocol := "SPDY/3.1+portforward.k8s.io"
		upgrader := websocket.Upgrader{Subprotocols: []string{protocol}}
		socket, err := upgrader.Upgrade(w, request, nil)
		if err != nil || !strings.Contains(request.Header.Get("Sec-WebSocket-Protocol"), protocol) {
			return
		}
		connection, err = spdy.NewServerConnection(portforward.NewTunnelingConnection("server", socket), handler)
		if err != nil {
			return
		}
	} else {
		if _, err := httpstream.Handshake(request, w, []string{"portforward.k8s.io"}); err != nil {
			return
		}
		connection = spdy.NewResponseUpgrader().UpgradeResponse(w, request, handler)
		if connection == nil {
			return
		}
	}
	<-connection.CloseChan()
}
