import { Server as Engine } from '@socket.io/bun-engine'
import { LRUCache } from 'lru-cache'
import { type Socket as Connection, Server } from 'socket.io'
import { type Actor, ANONYMOUS } from './core/actor.ts'
import { AppError } from './core/errors.ts'
import type { Right } from './core/roles.ts'
import { CUSTOM_ADDRESS, passwordHeader, SHARE_HEADERS, SHARE_PASSWORD_HEADER } from './core/shares.ts'
import type { Kernel } from './kernel.ts'
import type { Authenticator } from './rest.ts'

const PATH = '/socket.io/'

/** Bytes of one message from a browser. */
const MAX_MESSAGE_BYTES = 1_000_000
/** A character in UTF-8 has four bytes at most, and the engine counts characters. */
const MAX_BODY_BYTES = 4 * MAX_MESSAGE_BYTES

/** What a token of a session is made of. Other text is none, and might be no value of a header either. */
const TOKEN = /^[\w.-]{1,4096}$/

/** What the socket asks of the auth module. */
interface Gate extends Authenticator {
  access: { authorize(actor: Actor, right: Right, baseId?: string): Promise<void> }
  shares: { changedAt(ids: string[]): Promise<ReadonlyMap<string, string>> }
}

export interface Socket {
  /** The answer to a request of the socket's path; undefined for every other path. */
  handle(request: Request, server: Bun.Server<never>): Promise<Response> | undefined
  websocket: Bun.WebSocketHandler<never>
  close(): void
}

/** Added to the age that a browser gives: its first read may have been made a little before it began to count. */
const SLACK_MS = 250

/** The answer to a browser that wants to follow a base. */
interface Joined {
  joined: boolean
  /** True where the base has changed since the browser began to read it: what it holds may be old. */
  missed: boolean
}

const roomOf = (baseId: string): string => `base:${baseId}`
const roomOfUser = (userId: string): string => `user:${userId}`
const roomOfShare = (shareId: string): string => `share:${shareId}`

/** How often the links of visitors are looked at where other processes may close them. */
const LINKS_EVERY_MS = 2_000

/** Links in one statement. */
const LINKS_AT_ONCE = 500

/** The longest that a timer can wait. */
const MAX_TIMER_MS = 2_147_483_647

/**
 * Live updates: a browser that is signed in, or has come by a link to a base, joins the bases it shows and is told of each change of
 * their records, tables and jobs. A browser whose rights change is cut off and has to join again.
 */
export function createSocket(kernel: Pick<Kernel, 'events' | 'log' | 'meta'>, gate: Gate): Socket {
  const io = new Server({ serveClient: false })
  const engine = new Engine({
    path: PATH,
    pingInterval: 25_000,
    pingTimeout: 20_000,
    maxHttpBufferSize: MAX_MESSAGE_BYTES,
  })
  // The engine has the interface that socket.io expects of its own; only the class differs.
  io.bind(engine as never)

  const visitors = new Map<Connection, { shareId: string; changedAt: string | undefined }>()
  let isChecking = false
  const checking = setInterval(() => {
    if (!kernel.meta.isShared || isChecking || visitors.size === 0) return
    isChecking = true
    checkLinks()
      .catch((error) => kernel.log.error('the links of visitors could not be looked at', error))
      .finally(() => {
        isChecking = false
      })
  }, LINKS_EVERY_MS).unref()

  // Nobody waits for what this returns, and a rejection that nobody takes ends the process.
  io.use((socket, next) => {
    enter(socket).then(
      (isIn) => next(isIn ? undefined : new Error('Authentication required')),
      (error) => {
        // A link that is closed, or the wrong password for it.
        if (error instanceof AppError) return next(new Error(error.message))
        kernel.log.error('a live connection could not be opened', error)
        next(new Error('Something went wrong on the server'))
      },
    )
  })

  /** Notes who connects. False for those who are not signed in, and have not come by a link to a base. */
  async function enter(socket: Connection): Promise<boolean> {
    const { auth, headers, address } = socket.handshake
    const visitor = visitorHeaders(auth)
    if (visitor) {
      const id = visitor.get(SHARE_HEADERS.base) ?? ''
      // Ahead of the check: what is changed in between is noticed afterwards.
      const changedAt = (await gate.shares.changedAt([id])).get(id)
      return enterByLink(socket, await gate.authenticate(visitor, address), changedAt)
    }
    const actor = await authenticate(gate, auth.token ?? headers['xc-auth'])
    if (actor.kind !== 'user') return false
    socket.data.actor = actor
    await socket.join(roomOfUser(actor.id))
    return true
  }

  /** What a view shows is not told apart from what else has changed: only links to whole bases are told of it. */
  async function enterByLink(
    socket: Connection,
    actor: Actor,
    changedAt: string | undefined,
  ): Promise<boolean> {
    if (actor.kind !== 'share' || actor.grant.kind !== 'base') return false
    socket.data.actor = actor
    socket.data.link = { shareId: actor.shareId, changedAt }
    await socket.join(roomOfShare(actor.shareId))
    if (actor.expiresAt !== null) endAt(socket, Date.parse(actor.expiresAt))
    return true
  }

  /** Cuts off visitors whose link was closed or changed: another process does not tell. */
  async function checkLinks(): Promise<void> {
    const ids = [...new Set([...visitors.values()].map(({ shareId }) => shareId))]
    for (let start = 0; start < ids.length; start += LINKS_AT_ONCE) {
      const some = new Set(ids.slice(start, start + LINKS_AT_ONCE))
      const current = await gate.shares.changedAt([...some])
      for (const [socket, { shareId, changedAt }] of visitors) {
        if (some.has(shareId) && current.get(shareId) !== changedAt) socket.disconnect(true)
      }
    }
  }

  /** Disconnects at a moment. One that is further away than a timer goes is waited for in parts. */
  function endAt(socket: Connection, moment: number): void {
    const wait = Math.max(0, moment - Date.now())
    const timer = setTimeout(
      () => (wait > MAX_TIMER_MS ? endAt(socket, moment) : socket.disconnect(true)),
      Math.min(wait, MAX_TIMER_MS),
    )
    timer.unref()
    socket.once('disconnect', () => clearTimeout(timer))
  }

  io.on('connection', (socket) => {
    if (socket.data.link) {
      visitors.set(socket, socket.data.link)
      socket.once('disconnect', () => visitors.delete(socket))
    }
    socket.on(
      'base:join',
      async (baseId: unknown, ageMs: unknown, acknowledge?: (answer: Joined) => void) => {
        const joined = typeof baseId === 'string' && (await mayRead(socket.data.actor, baseId))
        if (joined) await socket.join(roomOf(baseId))
        const missed = joined && typeof ageMs === 'number' && hasChangedWithin(baseId, ageMs)
        if (typeof acknowledge === 'function') acknowledge({ joined, missed })
      },
    )
    socket.on('base:leave', (baseId: unknown) => {
      if (typeof baseId === 'string') return socket.leave(roomOf(baseId))
    })
  })

  /** When something was last told of each base, on this process's own clock. */
  const lastNewsAt = new LRUCache<string, number>({ max: 10_000 })
  const tell = (baseId: string, event: string, payload: unknown) => {
    lastNewsAt.set(baseId, performance.now())
    io.to(roomOf(baseId)).emit(event, payload)
  }
  const hasChangedWithin = (baseId: string, ageMs: number): boolean =>
    (lastNewsAt.get(baseId) ?? Number.NEGATIVE_INFINITY) > performance.now() - ageMs - SLACK_MS

  async function mayRead(actor: Actor, baseId: string): Promise<boolean> {
    return gate.access.authorize(actor, 'record.list', baseId).then(
      () => true,
      () => false,
    )
  }

  const unsubscribe = [
    kernel.events.on('records.changed', (change) => tell(change.baseId, 'change', change)),
    kernel.events.on('schema.changed', (change) => tell(change.baseId, 'schema', change)),
    // Whoever has the base open reads its tables again, and learns that it is gone.
    kernel.events.on('base.deleted', ({ baseId }) =>
      tell(baseId, 'schema', { baseId, tableId: null, version: 0 }),
    ),
    kernel.events.on('job.changed', (job) => io.to(roomOfUser(job.userId)).emit('job', job)),
    kernel.events.on('access.changed', ({ userId }) => io.in(roomOfUser(userId)).disconnectSockets(true)),
    kernel.events.on('share.changed', ({ shareId }) => io.in(roomOfShare(shareId)).disconnectSockets(true)),
  ]

  const { websocket } = engine.handler()
  return {
    websocket: websocket as never,
    handle(request, server) {
      const { pathname } = new URL(request.url)
      if (!pathname.startsWith(PATH)) return undefined
      const refusal = refuseLargeBody(request)
      return refusal ? Promise.resolve(refusal) : engine.handleRequest(request, server as never)
    },
    close() {
      clearInterval(checking)
      for (const stop of unsubscribe) stop()
      io.disconnectSockets(true)
      engine.close()
    },
  }
}

/** The headers of someone who connects by a link to a base, as `auth.sharedBaseId` names it; null for others. */
function visitorHeaders({ sharedBaseId, password }: Record<string, unknown>): Headers | null {
  if (typeof sharedBaseId !== 'string' || !CUSTOM_ADDRESS.test(sharedBaseId)) return null
  const headers = new Headers({ [SHARE_HEADERS.base]: sharedBaseId })
  if (typeof password === 'string')
    headers.set(SHARE_PASSWORD_HEADER, passwordHeader(password.slice(0, 1000)))
  return headers
}

async function authenticate(gate: Authenticator, token: unknown): Promise<Actor> {
  const isToken = typeof token === 'string' && TOKEN.test(token)
  return isToken ? gate.authenticate(new Headers({ 'xc-auth': token })) : ANONYMOUS
}

/** 413 for a body that is too long, 411 for one that does not say how long it is: the engine reads all of it first. */
function refuseLargeBody(request: Request): Response | null {
  if (request.body === null) return null
  const length = request.headers.get('content-length')
  if (length === null) return new Response(null, { status: 411 })
  return Number(length) > MAX_BODY_BYTES ? new Response(null, { status: 413 }) : null
}
