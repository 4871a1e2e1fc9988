import { Server as Engine } from '@socket.io/bun-engine'
import { LRUCache } from 'lru-cache'
import { type Socket as Connection, Server } from 'socket.io'
import type { Authenticator } from './caller.ts'
import { clientAddress } from './caller.ts'
import { nowMs } from './clock.ts'
import { type Actor, ANONYMOUS } from './core/actor.ts'
import type { AppliedChange } from './core/changes.ts'
import { AppError } from './core/errors.ts'
import type { Person } from './core/model.ts'
import { type BaseRole, type Right, roleCan } from './core/roles.ts'
import { CUSTOM_ADDRESS, passwordHeader, SHARE_HEADERS, SHARE_PASSWORD_HEADER } from './core/shares.ts'
import type { Kernel } from './kernel.ts'
import { createPresence } from './presence.ts'

const PATH = '/socket.io/'

/** Maximum size of a browser's message (a base id or a token), in bytes. A parsed bracket takes 75 bytes. */
const MAX_MESSAGE_BYTES = 16_000
/** A character in UTF-8 has four bytes at most, and the engine counts characters. */
const MAX_BODY_BYTES = 4 * MAX_MESSAGE_BYTES

/** Pattern of session tokens. Other text may be invalid in a header. */
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
  people(ids: string[]): Promise<Person[]>
}

export interface Socket {
  /** The response to a request on the socket's path; undefined for other paths. */
  handle(request: Request, server: Bun.Server<never>): Promise<Response> | undefined
  websocket: Bun.WebSocketHandler<never>
  /** The number of live connections. */
  count(): number
  /** Closes all connections, after telling browsers that the server restarts with other data. */
  tellRestart(): void
  close(): void
}

/** Added to the age that a browser reports: its first read may have started slightly earlier. */
const SLACK_MS = 250

/** The response to a browser that joins a base. */
interface Joined {
  joined: boolean
  /** True if the base has changed since the browser started reading it, so that its data may be stale. */
  missed: boolean
}

const roomOf = (baseId: string): string => `base:${baseId}`
/** Those in a base who may list its webhooks. */
const roomOfHooks = (baseId: string): string => `hooks:${baseId}`
const roomOfUser = (userId: string): string => `user:${userId}`
const roomOfShare = (shareId: string): string => `share:${shareId}`

/** Check interval of idle connections while revocations by other servers may be unknown. */
const CHECK_EVERY_MS = 2_000

/** Links per statement. */
const LINKS_AT_ONCE = 500

/** Maximum delay of a timer. */
const MAX_TIMER_MS = 2_147_483_647

/** Access state at connection time. The connection is closed once any of it changes. */
interface Entry {
  actor: Actor
  /** For a signed-in user: the version of their sessions. */
  sessions?: string
  /** For a visitor: the link, and the time of its last change. */
  link?: { shareId: string; changedAt: string | undefined }
  /** For a signed-in user: the role in each joined base. */
  roles: Map<string, BaseRole | undefined>
}

/**
 * Live updates: a signed-in browser, or a visitor of a base link, joins the bases it shows and receives each change of
 * their records, tables and jobs. A browser whose rights change is disconnected and has to join again.
 *
 * When another server changes someone's access, their connections here are checked before that change is acknowledged.
 * While such changes may be unknown, and during a check, the access of a base's followers is read before each message,
 * once for all queued ones.
 *
 * @param restore the latest one of everything. Browsers that have read other data before load their page again
 */
export function createSocket(
  kernel: Pick<Kernel, 'config' | 'events' | 'log' | 'meta'>,
  gate: Gate,
  restore: { id: string; at: string } | null,
): Socket {
  const restoreId = restore?.id ?? null
  const io = new Server({ serveClient: false })
  const engine = new Engine({
    path: PATH,
    pingInterval: 25_000,
    pingTimeout: 20_000,
    maxHttpBufferSize: MAX_MESSAGE_BYTES,
  })
  io.bind(engine)

  // The address is not available after the upgrade.
  const addresses = new WeakMap<Request, string>()
  engine.on('connection', (connection, request) => {
    Object.assign(connection, { remoteAddress: addresses.get(request) ?? '' })
  })

  const entryOf = (socket: Connection): Entry => socket.data.entry
  const { cluster } = kernel.meta
  let isChecking = false
  const checking = setInterval(() => {
    if (cluster.isCurrent() || isChecking || io.sockets.sockets.size === 0) return
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
      (isIn) =>
        // Also tells browsers whose session is not in the restored data.
        next(isIn ? undefined : Object.assign(new Error('Authentication required'), { data: { restoreId } })),
      (error) => {
        // A closed link, or a wrong password.
        if (error instanceof AppError) return next(new Error(error.message))
        kernel.log.error('a live connection could not be opened', error)
        next(new Error('Something went wrong on the server'))
      },
    )
  })

  /** Registers a connection. False without a session and without a link to a base. */
  async function enter(socket: Connection): Promise<boolean> {
    const { auth, headers, address } = socket.handshake
    const visitor = visitorHeaders(auth)
    if (visitor) {
      const id = visitor.get(SHARE_HEADERS.base) ?? ''
      // Registered before the check, so that a change in between is noticed.
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
   * Disconnects connections whose account, sessions, role or link have changed since they connected.
   * @param baseId of the message to send; by default all joined bases are checked
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
      // A base joined in the meantime was checked by the join.
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

  /** Sends a message to all connections of a room that still have access. Preserves the order per room. */
  function send(room: string, message: Message, baseId?: string): void {
    const all = io.sockets.adapter.rooms
    if (!all.has(room)) return
    const queue = waiting.get(room)
    if (queue) {
      queue.push(message)
      return
    }
    if (cluster.isCurrent() && checks === 0) {
      io.to(room).emit(message.event, message.payload)
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
        // On reconnection, clients reload missed changes.
        kernel.log.error('live connections could not be checked, and are cut off', error)
        io.in(room).disconnectSockets(true)
      }
    }
    waiting.delete(room)
  }

  /** Checks of connections in progress. */
  let checks = 0

  /** Disconnects those in a room who have lost their access, before anything else is sent. */
  async function recheck(room: string): Promise<void> {
    const sockets = connectionsIn(room)
    if (sockets.length === 0) return
    checks++
    try {
      await expel(sockets)
    } catch (error) {
      kernel.log.error('live connections could not be checked, and are cut off', error)
      io.in(room).disconnectSockets(true)
    } finally {
      checks--
    }
  }

  /** Tells all browsers to read again, after cutting off those who have lost their access. */
  async function catchUp(): Promise<void> {
    missedAt = performance.now()
    const sockets = [...io.sockets.sockets.values()]
    if (sockets.length === 0) return
    checks++
    try {
      await expel(sockets)
      io.emit('missed')
    } catch (error) {
      kernel.log.error('live connections could not be checked, and are cut off', error)
      io.disconnectSockets(true)
    } finally {
      checks--
    }
  }

  const connectionsIn = (room: string): Connection[] =>
    [...(io.sockets.adapter.rooms.get(room) ?? [])].flatMap((id) => io.sockets.sockets.get(id) ?? [])

  /** Disconnects at a time, with several timers if it exceeds the maximum delay. */
  function endAt(socket: Connection, moment: number): void {
    const wait = Math.max(0, moment - nowMs())
    const timer = setTimeout(
      () => (wait > MAX_TIMER_MS ? endAt(socket, moment) : socket.disconnect(true)),
      Math.min(wait, MAX_TIMER_MS),
    )
    timer.unref()
    socket.once('disconnect', () => clearTimeout(timer))
  }

  const presence = createPresence({
    events: kernel.events,
    cluster,
    send: (room, news) => send(room, { event: 'presence', payload: news }, news.baseId),
    async nameOf({ id, email }) {
      const [person] = await gate.people([id])
      return person?.displayName?.trim() || email
    },
    onError: (error) => kernel.log.error('a position could not be shown', error),
  })

  io.on('connection', (socket) => {
    socket.emit('restored', restoreId, restore && nowMs() - Date.parse(restore.at))
    socket.on('presence', (report: unknown) => {
      const { actor, roles } = entryOf(socket)
      // Visitors of public links neither see people nor are seen.
      if (actor.kind !== 'user') return
      const mayRead = (baseId: string) => roles.has(baseId) && socket.rooms.has(roomOf(baseId))
      presence.report(socket, actor, report, mayRead)
    })
    socket.on('disconnect', () => presence.leave(socket))
    socket.on('base:join', (baseId: unknown, ageMs: unknown, acknowledge?: (answer: Joined) => void) => {
      join(socket, baseId, ageMs).then(
        (answer) => {
          if (typeof acknowledge === 'function') acknowledge(answer)
        },
        (error) => {
          // The browser comes back and joins again.
          kernel.log.error('a live connection could not join a base, and is cut off', error)
          socket.disconnect(true)
        },
      )
    })
    socket.on('base:leave', (baseId: unknown) => {
      if (typeof baseId !== 'string') return
      entryOf(socket).roles.delete(baseId)
      presence.leave(socket, baseId)
      return Promise.all([socket.leave(roomOf(baseId)), socket.leave(roomOfHooks(baseId))])
    })
  })

  async function join(socket: Connection, baseId: unknown, ageMs: unknown): Promise<Joined> {
    const joined = typeof baseId === 'string' && (await mayJoin(entryOf(socket), baseId))
    if (joined) {
      await socket.join(roomOf(baseId))
      if (roleCan(entryOf(socket).roles.get(baseId) ?? null, 'hook.list'))
        await socket.join(roomOfHooks(baseId))
    }
    return { joined, missed: joined && typeof ageMs === 'number' && hasChangedWithin(baseId, ageMs) }
  }

  /** Time of each base's last message, by this process's clock. */
  const lastNewsAt = new LRUCache<string, number>({ max: 10_000 })
  /** Since then the messages of all servers are known here. */
  let missedAt = cluster.isShared ? performance.now() : Number.NEGATIVE_INFINITY
  const tell = (baseId: string, event: string, payload: unknown) => {
    lastNewsAt.set(baseId, performance.now())
    send(roomOf(baseId), { event, payload }, baseId)
  }
  const hasChangedWithin = (baseId: string, ageMs: number): boolean =>
    Math.max(missedAt, lastNewsAt.get(baseId) ?? Number.NEGATIVE_INFINITY) >
    performance.now() - ageMs - SLACK_MS

  /** True if a connection may follow a base; stores its role. @throws if the rights cannot be read */
  async function mayJoin({ actor, roles }: Entry, baseId: string): Promise<boolean> {
    if (actor.kind === 'user') {
      const standing = (await gate.access.standings([actor.id], [baseId])).get(actor.id)
      roles.set(baseId, standing?.roles.get(baseId))
    }
    try {
      await gate.access.authorize(actor, 'record.list', baseId)
      return true
    } catch (error) {
      roles.delete(baseId)
      if (error instanceof AppError && error.status < 500) return false
      throw error
    }
  }

  const inOrder = createInOrder((change) => tell(change.baseId, 'change', change), cluster.isAlone)
  const unsubscribe = [
    kernel.events.on('records.changed', inOrder.take),
    kernel.events.on('schema.changed', (change) => tell(change.baseId, 'schema', change)),
    kernel.events.on('comment.changed', (news) =>
      send(roomOf(news.baseId), { event: 'comment', payload: news }, news.baseId),
    ),
    kernel.events.on('base.audited', (news) =>
      send(roomOf(news.baseId), { event: 'audit', payload: news }, news.baseId),
    ),
    ...(['hook.changed', 'hook.due', 'hook.progressed'] as const).map((event) =>
      kernel.events.on(event, ({ hookId, baseId }) =>
        send(roomOfHooks(baseId), { event: 'hook', payload: { hookId, baseId } }, baseId),
      ),
    ),
    kernel.events.on('notification.changed', ({ userId }) =>
      send(roomOfUser(userId), { event: 'notification', payload: {} }),
    ),
    kernel.events.on('work.changed', (work) =>
      send(roomOf(work.baseId), { event: 'work', payload: work }, work.baseId),
    ),
    // Clients with the base open reload its tables and learn that it was deleted.
    kernel.events.on('base.deleted', ({ baseId }) =>
      tell(baseId, 'schema', { baseId, tableId: null, version: 0 }),
    ),
    kernel.events.on('job.changed', (job) => send(roomOfUser(job.userId), { event: 'job', payload: job })),
    kernel.events.on('access.changed', ({ userId }) => io.in(roomOfUser(userId)).disconnectSockets(true)),
    kernel.events.on('share.changed', ({ shareId }) => io.in(roomOfShare(shareId)).disconnectSockets(true)),
    kernel.events.on('events.missed', () => void catchUp()),
    cluster.onStale('users', ({ id }) => recheck(roomOfUser(id))),
    cluster.onStale('memberships', (row) => recheck(roomOfUser(row.user_id))),
    cluster.onStale('shares', ({ id }) => recheck(roomOfShare(id))),
  ]

  const { websocket } = engine.handler()
  return {
    websocket,
    count: () => io.sockets.sockets.size,
    handle(request, server) {
      const { pathname } = new URL(request.url)
      if (!pathname.startsWith(PATH)) return undefined
      addresses.set(request, clientAddress(kernel.config, request, server))
      const refusal = refuseLargeBody(request)
      return refusal ? Promise.resolve(refusal) : engine.handleRequest(request, server)
    },
    tellRestart() {
      io.emit('restarting')
      close()
    },
    close,
  }

  function close(): void {
    clearInterval(checking)
    for (const stop of unsubscribe) stop()
    presence.close()
    io.disconnectSockets(true)
    engine.close()
  }
}

/** A change waits this long for the one before it in its base's log: within the 200 ms that changes may take. */
const ORDER_PATIENCE_MS = 150

/**
 * Passes on the changes of each base in the order of its log. Servers write to a base in turn, but their messages may
 * overtake each other.
 */
function createInOrder(pass: (change: AppliedChange) => void, isAlone: () => boolean) {
  const last = new LRUCache<string, number>({ max: 10_000 })
  const waiting = new Map<string, { changes: AppliedChange[]; timer: Timer }>()

  function passOn(change: AppliedChange): void {
    last.set(change.baseId, Math.max(change.id, last.get(change.baseId) ?? 0))
    pass(change)
  }

  function passAll(baseId: string): void {
    const { changes = [], timer } = waiting.get(baseId) ?? {}
    clearTimeout(timer)
    waiting.delete(baseId)
    for (const change of changes.sort((a, b) => a.id - b.id)) passOn(change)
  }

  return {
    take(change: AppliedChange): void {
      const { baseId, id } = change
      const held = waiting.get(baseId)
      const previous = last.get(baseId)
      // Schema changes take numbers of the log as well, so a gap does not always mean that one is on its way.
      const isNext = previous === undefined || id <= previous + 1
      if (held) {
        held.changes.push(change)
        const ids = held.changes.map((each) => each.id).sort((a, b) => a - b)
        if (ids.every((each, at) => each === (ids[at - 1] ?? previous ?? each) + 1)) passAll(baseId)
      } else if (isNext || isAlone()) {
        passOn(change)
      } else {
        const timer = setTimeout(() => passAll(baseId), ORDER_PATIENCE_MS)
        waiting.set(baseId, { changes: [change], timer })
      }
    },
  }
}

/** Headers for a visitor of a base link (`auth.sharedBaseId`); null for others. */
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

/** 413 for a body that is too long, 411 for one without a length, because the engine reads it whole first. */
function refuseLargeBody(request: Request): Response | null {
  if (request.body === null) return null
  const length = request.headers.get('content-length')
  if (length === null) return new Response(null, { status: 411 })
  return Number(length) > MAX_BODY_BYTES ? new Response(null, { status: 413 }) : null
}
