// Package door is what the doors share: from when they start to when they have closed (Life), and, for those that speak
// HTTP, the listener with all that it bounds (Web). It knows no protocol above HTTP, no user and no queue.
//
//	type Server struct {
//		life door.Life
//		web  *door.Web
//		…
//	}
//
//	func (s *Server) Start(ctx context.Context) (net.Addr, error) {
//		return s.life.Start(func() (net.Addr, error) {
//			web, err := door.Listen(ctx, door.Config{Name: "sqs", Listen: "127.0.0.1:9324", Handler: s, Plain: s.servePlain, …})
//			if err != nil {
//				return nil, err
//			}
//			s.web = web
//			return web.Addr(), nil
//		})
//	}
//
//	func (s *Server) Close(ctx context.Context) error {
//		return s.life.Close(func() error { return s.web.Close(ctx) })
//	}
//
// The room below it, line, serves the connections of clients that send many small requests.
package door
