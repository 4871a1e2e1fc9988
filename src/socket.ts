import { Server as Engine } from '@socket.io/bun-engine'
import { Server } from 'socket.io'
import { type Actor, ANONYMOUS } from './core/actor.ts'
import type { Right } from './core/roles.ts'
import type { Kernel } from './kernel.ts'
import type { Authenticator } from './rest.ts'

const PATH = '/socket.io/'

/** What the socket asks of the auth module. */
interface Gate extends Authenticator {
  access: { authorize(actor: Actor, right: Right, baseId?: string): Promise<void> }
}

export interface Socket {
  /** The answer to a request of the socket's path; undefined for every other path. */
  handle(request: Request, server: Bun.Server<never>): Promise<Response> | undefined
  websocket: Bun.WebSocketHandler<never>
  close(): void
}

const roomOf = (baseId: string): string => `base:${baseId}`
const roomOfUser = (userId: string): string => `user:${userId}`

/**
 * Live updates: a browser that is signed in joins the bases it shows and is told of each change of
 * their records, tables and jobs. A browser whose rights change is cut off and has to join again.
 */
export function createSocket(kernel: Pick<Kernel, 'events' | 'log'>, gate: Gate): Socket {
  const io = new Server({ serveClient: false })
  const engine = new Engine({
    path: PATH,
    pingInterval: 25_000,
    pingTimeout: 20_000,
    maxHttpBufferSize: 1_000_000,
  })
  // The engine has the interface that socket.io expects of its own; only the class differs.
  io.bind(engine as never)

  io.use(async (socket, next) => {
    const actor = await authenticate(gate, socket.handshake.auth.token ?? socket.handshake.headers['xc-auth'])
    if (actor.kind !== 'user') return next(new Error('Authentication required'))
    socket.data.actor = actor
    await socket.join(roomOfUser(actor.id))
    next()
  })
  io.on('connection', (socket) => {
    socket.on('base:join', async (baseId: unknown, acknowledge?: (ok: boolean) => void) => {
      const joined = typeof baseId === 'string' && (await mayRead(socket.data.actor, baseId))
      if (joined) await socket.join(roomOf(baseId))
      if (typeof acknowledge === 'function') acknowledge(joined)
    })
    socket.on('base:leave', (baseId: unknown) => {
      if (typeof baseId === 'string') void socket.leave(roomOf(baseId))
    })
  })

  async function mayRead(actor: Actor, baseId: string): Promise<boolean> {
    return gate.access.authorize(actor, 'record.list', baseId).then(
      () => true,
      () => false,
    )
  }

  const unsubscribe = [
    kernel.events.on('records.changed', (change) => io.to(roomOf(change.baseId)).emit('change', change)),
    kernel.events.on('schema.changed', (change) => io.to(roomOf(change.baseId)).emit('schema', change)),
    // Whoever has the base open reads its tables again, and learns that it is gone.
    kernel.events.on('base.deleted', ({ baseId }) =>
      io.to(roomOf(baseId)).emit('schema', { baseId, tableId: null, version: 0 }),
    ),
    kernel.events.on('job.changed', (job) => io.to(roomOfUser(job.userId)).emit('job', job)),
    kernel.events.on('access.changed', ({ userId }) => io.in(roomOfUser(userId)).disconnectSockets(true)),
  ]

  const { websocket } = engine.handler()
  return {
    websocket: websocket as never,
    handle(request, server) {
      const { pathname } = new URL(request.url)
      return pathname.startsWith(PATH) ? engine.handleRequest(request, server as never) : undefined
    },
    close() {
      for (const stop of unsubscribe) stop()
      io.disconnectSockets(true)
      engine.close()
    },
  }
}

async function authenticate(gate: Authenticator, token: unknown): Promise<Actor> {
  return typeof token === 'string' ? gate.authenticate(new Headers({ 'xc-auth': token })) : ANONYMOUS
}
