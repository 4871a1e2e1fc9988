import { Server as Engine } from '@socket.io/bun-engine'
import { LRUCache } from 'lru-cache'
import { type Socket as Connection, Server } from 'socket.io'
import type { Authenticator } from './caller.ts'
import { clientAddress } from './caller.ts'
import { type Actor, ANONYMOUS } from './core/actor.ts'
import { AppError } from './core/errors.ts'
import type { BaseRole, Right } from './core/roles.ts'
import { CUSTOM_ADDRESS, passwordHeader, SHARE_HEADERS, SHARE_PASSWORD_HEADER } from './core/shares.ts'
import type { Kernel } from './kernel.ts'

const PATH = '/socket.io/'

/** Bytes of one message from a browser: the id of a base, or a token. A parsed bracket takes 75 times its byte. */
const MAX_MESSAGE_BYTES = 16_000
/** A character in UTF-8 has four bytes at most, and the engine counts characters. */
const MAX_BODY_BYTES = 4 * MAX_MESSAGE_BYTES

/** Characters of a session token. Other text cannot be one, and may be invalid in a header. */
const TOKEN = /^[\w.-]{1,4096}$/

/** The part of the auth module that the socket uses. */
interface Gate extends Authenticator {
  access: {
    authorize(actor: Actor, right: Right, baseId?: string): Promise<void>
    standings(
      userIds: readonly string[],
      baseIds: readonly string[],
    ): Promise<ReadonlyMap<string, { sessions: string; roles: ReadonlyMap<string, BaseRole> }>>
  }
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

/** Where other processes may end an access, how often all connections are checked that nothing is sent to. */
const CHECK_EVERY_MS = 2_000

/** Links in one statement. */
const LINKS_AT_ONCE = 500

/** The longest that a timer can wait. */
const MAX_TIMER_MS = 2_147_483_647

/** Access state at connection time. The connection is closed once any of it changes. */
interface Entry {
  actor: Actor
  /** Of someone who is signed in: the version of their sessions. */
  sessions?: string
  /** Of a visitor: the link, and when it was last changed. */
  link?: { shareId: string; changedAt: string | undefined }
  /** The role of someone who is signed in, in each base that the connection follows. */
  roles: Map<string, BaseRole | undefined>
}

/**
 * Live updates: a browser that is signed in, or has come by a link to a base, joins the bases it shows and is told of each change of
 * their records, tables and jobs. A browser whose rights change is cut off and has to join again.
 *
 * Where other processes share the metadata, they may end an access without a word to this one. So before anything is
 * sent to a base's followers, how they stand is read from the metadata, once for all changes that wait at that moment.
 */
export function createSocket(kernel: Pick<Kernel, 'config' | 'events' | 'log' | 'meta'>, gate: Gate): Socket {
  const io = new Server({ serveClient: false })
  const engine = new Engine({
    path: PATH,
    pingInterval: 25_000,
    pingTimeout: 20_000,
    maxHttpBufferSize: MAX_MESSAGE_BYTES,
  })
  io.bind(engine)

  // Once a connection is upgraded, its request does not tell the address any more.
  const addresses = new WeakMap<Request, string>()
  engine.on('connection', (connection, request) => {
    Object.assign(connection, { remoteAddress: addresses.get(request) ?? '' })
  })

  const entryOf = (socket: Connection): Entry => socket.data.entry
  let isChecking = false
  const checking = setInterval(() => {
    if (!kernel.meta.isShared || isChecking || io.sockets.sockets.size === 0) return
    isChecking = true
    expel([...io.sockets.sockets.values()])
      .catch((error) => kernel.log.error('live connections could not be checked', error))
      .finally(() => {
        isChecking = false
      })
  }, CHECK_EVERY_MS).unref()

  // Not awaited by the caller; an unhandled rejection would end the process.
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
    const token = auth.token ?? headers['xc-auth']
    const actor = await authenticate(gate, token)
    if (actor.kind !== 'user') return false
    const sessions = (await gate.access.standings([actor.id], [])).get(actor.id)?.sessions
    // The sessions may have ended just before their version was read.
    if (sessions === undefined || (await authenticate(gate, token)).kind !== 'user') return false
    socket.data.entry = { actor, sessions, roles: new Map() } satisfies Entry
    await socket.join(roomOfUser(actor.id))
    return true
  }

  /** Only links to whole bases receive change events: they cannot be limited to the rows that a view shows. */
  async function enterByLink(
    socket: Connection,
    actor: Actor,
    changedAt: string | undefined,
  ): Promise<boolean> {
    if (actor.kind !== 'share' || actor.grant.kind !== 'base') return false
    const link = { shareId: actor.shareId, changedAt }
    socket.data.entry = { actor, link, roles: new Map() } satisfies Entry
    await socket.join(roomOfShare(actor.shareId))
    if (actor.expiresAt !== null) endAt(socket, Date.parse(actor.expiresAt))
    return true
  }

  /**
   * Disconnects those of the connections whose account, sessions, role or link are not what they were let in with.
   * @param baseId of what is about to be sent; left out, all bases that a connection follows are looked at
   */
  async function expel(sockets: readonly Connection[], baseId?: string): Promise<void> {
    const entries = sockets.map(entryOf)
    const userIds = new Set(entries.flatMap(({ actor }) => (actor.kind === 'user' ? [actor.id] : [])))
    const baseIds = new Set(
      baseId === undefined ? entries.flatMap(({ roles }) => [...roles.keys()]) : [baseId],
    )
    const shareIds = new Set(entries.flatMap(({ link }) => link?.shareId ?? []))
    const [standings, links] = await Promise.all([
      userIds.size === 0 ? null : gate.access.standings([...userIds], [...baseIds]),
      linksChangedAt([...shareIds]),
    ])
    for (const socket of sockets) {
      const { actor, sessions, roles, link } = entryOf(socket)
      const standing = actor.kind === 'user' ? standings?.get(actor.id) : undefined
      // A base that is joined meanwhile was checked by the join.
      const keepsRole = ([id, role]: [string, BaseRole | undefined]) =>
        !baseIds.has(id) || standing?.roles.get(id) === role
      const stays = link
        ? links.get(link.shareId) === link.changedAt
        : standing?.sessions === sessions && [...roles].every(keepsRole)
      if (!stays) socket.disconnect(true)
    }
  }

  async function linksChangedAt(ids: string[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>()
    for (let start = 0; start < ids.length; start += LINKS_AT_ONCE) {
      for (const each of await gate.shares.changedAt(ids.slice(start, start + LINKS_AT_ONCE)))
        found.set(...each)
    }
    return found
  }

  interface Message {
    event: string
    payload: unknown
  }

  /** Messages queued for a room while its connections are checked. */
  const waiting = new Map<string, Message[]>()

  /** Sends to all connections of a room that may still have it. What is sent to one room keeps its order. */
  function send(room: string, message: Message, baseId?: string): void {
    const all = io.sockets.adapter.rooms
    if (!all.has(room)) return
    if (!kernel.meta.isShared) {
      io.to(room).emit(message.event, message.payload)
      return
    }
    const queue = waiting.get(room)
    if (queue) {
      queue.push(message)
      return
    }
    waiting.set(room, [message])
    deliver(room, baseId).catch((error) => kernel.log.error('a change could not be sent', error))
  }

  async function deliver(room: string, baseId: string | undefined): Promise<void> {
    for (let queue = waiting.get(room); queue && queue.length > 0; queue = waiting.get(room)) {
      const messages = queue.splice(0)
      try {
        await expel(connectionsIn(room), baseId)
        for (const { event, payload } of messages) io.to(room).emit(event, payload)
      } catch (error) {
        // Who connects again is told that something was missed.
        kernel.log.error('live connections could not be checked, and are cut off', error)
        io.in(room).disconnectSockets(true)
      }
    }
    waiting.delete(room)
  }

  const connectionsIn = (room: string): Connection[] =>
    [...(io.sockets.adapter.rooms.get(room) ?? [])].flatMap((id) => io.sockets.sockets.get(id) ?? [])

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
    socket.on(
      'base:join',
      async (baseId: unknown, ageMs: unknown, acknowledge?: (answer: Joined) => void) => {
        const joined = typeof baseId === 'string' && (await mayJoin(entryOf(socket), baseId))
        if (joined) await socket.join(roomOf(baseId))
        const missed = joined && typeof ageMs === 'number' && hasChangedWithin(baseId, ageMs)
        if (typeof acknowledge === 'function') acknowledge({ joined, missed })
      },
    )
    socket.on('base:leave', (baseId: unknown) => {
      if (typeof baseId !== 'string') return
      entryOf(socket).roles.delete(baseId)
      return socket.leave(roomOf(baseId))
    })
  })

  /** When something was last told of each base, on this process's own clock. */
  const lastNewsAt = new LRUCache<string, number>({ max: 10_000 })
  const tell = (baseId: string, event: string, payload: unknown) => {
    lastNewsAt.set(baseId, performance.now())
    send(roomOf(baseId), { event, payload }, baseId)
  }
  const hasChangedWithin = (baseId: string, ageMs: number): boolean =>
    (lastNewsAt.get(baseId) ?? Number.NEGATIVE_INFINITY) > performance.now() - ageMs - SLACK_MS

  /** True where a connection may follow a base, with the role noted that it does so with. */
  async function mayJoin({ actor, roles }: Entry, baseId: string): Promise<boolean> {
    if (actor.kind === 'user') {
      const standing = (await gate.access.standings([actor.id], [baseId])).get(actor.id)
      roles.set(baseId, standing?.roles.get(baseId))
    }
    return gate.access.authorize(actor, 'record.list', baseId).then(
      () => true,
      () => {
        roles.delete(baseId)
        return false
      },
    )
  }

  const unsubscribe = [
    kernel.events.on('records.changed', (change) => tell(change.baseId, 'change', change)),
    kernel.events.on('schema.changed', (change) => tell(change.baseId, 'schema', change)),
    kernel.events.on('work.changed', (work) =>
      send(roomOf(work.baseId), { event: 'work', payload: work }, work.baseId),
    ),
    // Whoever has the base open reads its tables again, and learns that it is gone.
    kernel.events.on('base.deleted', ({ baseId }) =>
      tell(baseId, 'schema', { baseId, tableId: null, version: 0 }),
    ),
    kernel.events.on('job.changed', (job) => send(roomOfUser(job.userId), { event: 'job', payload: job })),
    kernel.events.on('access.changed', ({ userId }) => io.in(roomOfUser(userId)).disconnectSockets(true)),
    kernel.events.on('share.changed', ({ shareId }) => io.in(roomOfShare(shareId)).disconnectSockets(true)),
  ]

  const { websocket } = engine.handler()
  return {
    websocket,
    handle(request, server) {
      const { pathname } = new URL(request.url)
      if (!pathname.startsWith(PATH)) return undefined
      addresses.set(request, clientAddress(kernel.config, request, server))
      const refusal = refuseLargeBody(request)
      return refusal ? Promise.resolve(refusal) : engine.handleRequest(request, server)
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
