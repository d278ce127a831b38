// Package suspect tells a sender's mistake from devices that are gone.
//
// A far end answers a push with a word such as BadDeviceToken when the device's token is none any more, and with the
// same word, for every device, when the sender's environment or topic is wrong. So such an answer is a doubt, which one
// alone cannot settle. A [Watch] looks at all answers of one app, environment and topic: a doubt among good answers
// means that the device is gone, and many doubts mean that the sender is wrong. Then the watch rests: requests wait,
// nothing that was in doubt counts, and some go first when the rest is over.
//
//	w := suspect.New(suspect.Config{Percent: 5, Answers: 200})
//	defer w.Close()
//	var p suspect.Pass
//	w.Enter(&p, token, campaign, func(wait time.Duration, why error) {
//		if wait > 0 { … } // not now; else send, and then call one of:
//	})
//	p.End(true)  // the far end took it, or knows the device
//	p.End(false) // it said nothing of the kind, or nothing
//	p.Doubt(func(v suspect.Verdict, first bool) { … })
//
// Until good answers have come, only some hundred requests are on their way at once: so many are wasted at most where
// everything is wrong. The same holds for each kind of requests, such as a campaign, and where many come after a few.
// When it becomes wrong later, it is what is in flight by then.
package suspect
