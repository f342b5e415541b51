// A receiver of webhooks that takes only what is signed with the webhook's secret, and each event once.
//
//	WEBHOOK_SECRET=whsec_… go run receiver.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxBytes   = 8 << 20
	toleranceS = 300
)

// isGenuine reports whether a request is signed with the key, and recent. body: the bytes as they came.
func isGenuine(key []byte, header http.Header, body []byte) bool {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	sentS, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || math.Abs(float64(time.Now().Unix()-sentS)) > toleranceS {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", id, timestamp)
	mac.Write(body)
	wanted := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	// One signature for each secret that is valid now: there are two while a secret is being rotated.
	for _, given := range strings.Split(header.Get("webhook-signature"), " ") {
		if hmac.Equal(wanted, []byte(given)) {
			return true
		}
	}
	return false
}

func main() {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_"))
	if err != nil || len(key) == 0 {
		log.Fatal("WEBHOOK_SECRET is not a secret of a webhook: whsec_…")
	}
	var seen sync.Map
	receive := func(w http.ResponseWriter, r *http.Request) {
		// The bytes as they came are what is signed: JSON that was parsed and written again verifies nowhere.
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
		if err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		if !isGenuine(key, r.Header, body) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		// A delivery may come again, after a lost answer, say. Its id stays the same.
		if _, isOld := seen.LoadOrStore(r.Header.Get("webhook-id"), true); !isOld {
			fmt.Printf("genuine: %s %s\n", r.Header.Get("errand-event-name"), body)
		}
		w.WriteHeader(http.StatusNoContent)
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "8787"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("the receiver listens on port %d\n", listener.Addr().(*net.TCPAddr).Port)
	server := &http.Server{Handler: http.HandlerFunc(receive), ReadTimeout: 30 * time.Second}
	log.Fatal(server.Serve(listener))
}
