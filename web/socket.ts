import type { Socket } from 'socket.io-client'
import { createStore } from 'zustand/vanilla'
import type { AppliedChange } from '../src/core/changes.ts'
import type { CommentNews } from '../src/core/comments.ts'
import type { HookNews } from '../src/core/hooks.ts'
import type { PositionReport, PresenceNews } from '../src/core/presence.ts'
import type { Work } from '../src/core/work.ts'
import { firstContent } from './navigation/first-content.ts'
import { loadPart } from './navigation/lazy-screen.ts'
import { session } from './session/index.ts'
import type { Outputs } from './trpc.ts'

/** A table, field or view was created, changed or removed; `tableId` is null if the list of tables changed. */
export interface SchemaChange {
  baseId: string
  tableId: string | null
  version: number
}

/** A background job's status as pushed by the server; `jobs.get` returns its details. */
export interface JobNews {
  id: string
  status: 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled'
}

interface ServerEvents {
  change: (change: AppliedChange) => void
  schema: (change: SchemaChange) => void
  job: (job: JobNews) => void
  work: (work: Work) => void
  comment: (news: CommentNews) => void
  presence: (news: PresenceNews) => void
  audit: (news: { baseId: string }) => void
  hook: (news: HookNews) => void
  notification: () => void
  /** Messages may have been lost between servers. */
  missed: () => void
  /** The latest restore of everything from a backup, and how long ago it was; null without one. Sent to each connection first. */
  restored: (restoreId: string | null, agoMs: number | null) => void
  /** The server restarts with other data. */
  restarting: () => void
}

interface ClientEvents {
  /** `ageMs`: how long ago this page began to read the base, or left it. */
  'base:join': (baseId: string, ageMs: number, answer: (joined: { missed: boolean }) => void) => void
  'base:leave': (baseId: string) => void
  presence: (report: PositionReport) => void
}

/** Kept connected while any base is watched, or the user's own messages are. The library is loaded with the first. */
let socket: Socket<ServerEvents, ClientEvents> | null = null
let isOpening = false
const watched = new Map<string, { count: number; since: number }>()
/** When bases were left. What was read of them until then was kept up to date, and may still be shown later. */
const leftAt = new Map<string, number>()
let isUserWatched = false

/** Time without a connection before the user is informed. */
const SILENCE_MS = 2500
/** Mean time before the next attempt after the server has refused one. */
const REFUSED_MS = 5000

/**
 * `lost`: the connection broke; shown after a delay, so that short interruptions are not. `restarting`: the server
 * exchanges its data.
 */
export type ConnectionState = 'idle' | 'open' | 'lost' | 'restarting'

let silence: ReturnType<typeof setTimeout> | undefined

/** Whether live updates arrive; shown by the connection bar. */
export const connection = createStore<ConnectionState>(() => 'idle')

function become(next: ConnectionState): void {
  clearTimeout(silence)
  connection.setState(next)
}

/** The restore that the data of this page are from; undefined until the server has said so. */
let knownRestore: string | null | undefined

/**
 * Loads the page again if the server has other data than when the page was loaded.
 *
 * @param agoMs time since the restore; a page that is older has other data, even if it was not connected before
 */
function compareRestore(restoreId: string | null, agoMs: number | null = null): void {
  const isFirst = knownRestore === undefined
  if (isFirst) knownRestore = restoreId
  const isOther = isFirst ? agoMs !== null && performance.now() > agoMs : restoreId !== knownRestore
  if (restoreId !== null && isOther) void loadAgain()
}

/** Loads the page again, or that of the sign-in if the restored data do not have the session. */
async function loadAgain(): Promise<void> {
  try {
    const token = await session.current()
    const answer = await fetch('/trpc/auth.me', { headers: { 'xc-auth': token ?? 'none' } })
    const { result } = (await answer.json()) as { result?: { data: Outputs['auth']['me'] } }
    if (result?.data.user === null && (await session.refresh()) === null) session.signOut()
  } catch (error) {
    // The new page finds it out.
    console.warn('the session could not be checked', error)
  }
  location.reload()
}

/** How often a page asks whether the server has restarted. */
const LOOK_EVERY_MS = 1000

/** Loads the page again once the server has restarted. */
async function loadAgainAfterRestart(): Promise<void> {
  become('restarting')
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    const response = await fetch('/api/v1/ready').catch(() => null)
    if (response?.ok) return loadAgain()
  }
}

/** Listeners of an event, independent of whether the socket is connected. */
function channel<T>() {
  const listeners = new Set<(payload: T) => void>()
  return {
    emit: (payload: T) => {
      for (const listener of listeners) listener(payload)
    },
    on(listener: (payload: T) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

const changes = channel<AppliedChange>()
const schemaChanges = channel<SchemaChange>()
const jobs = channel<JobNews>()
const works = channel<Work>()
const comments = channel<CommentNews>()
const presence = channel<PresenceNews>()
const joins = channel<string>()
const audits = channel<{ baseId: string }>()
const hooks = channel<HookNews>()
const notifications = channel<void>()
const reconnects = channel<void>()

/** Records were written in a watched base, also by this browser: compare `clientId`. */
export const onChange = changes.on
/** A table, field or view changed in a watched base. */
export const onSchemaChange = schemaChanges.on
/** Progress of one of the user's jobs. */
export const onJob = jobs.on
/** Progress or end of a change of whole tables in a watched base. */
export const onWork = works.on
/** The comments of a record changed in a watched base. */
export const onComment = comments.on
/** People came to a watched base, moved in it or left it. */
export const onPresence = presence.on
/** A watched base was joined, again after each interruption: its id. */
export const onJoin = joins.on
/** Something happened to a watched base itself, its members or public links. */
export const onAudit = audits.on
/** A webhook of a watched base was changed, or its deliveries; only for those who may list webhooks. */
export const onHook = hooks.on
/** The user's notifications changed. */
export const onNotification = notifications.on
/** The connection is back. Events in between were lost, so read again. */
export const onReconnect = reconnects.on

/** Receives the user's own messages from now on, also outside of bases. */
export function watchUser(): void {
  isUserWatched = true
  connect()
}

/** Watches a base until the returned function is called. Several callers may watch the same base. */
export function watchBase(baseId: string): () => void {
  const known = watched.get(baseId)
  const since = known?.since ?? leftAt.get(baseId) ?? performance.now()
  watched.set(baseId, { count: (known?.count ?? 0) + 1, since })
  if (!known) join(baseId)
  connect()
  return () => {
    const entry = watched.get(baseId)
    if (entry && entry.count > 1) return void watched.set(baseId, { ...entry, count: entry.count - 1 })
    watched.delete(baseId)
    leftAt.set(baseId, performance.now())
    socket?.emit('base:leave', baseId)
  }
}

/** Subscribes to a base's events. Events between the first read and now were missed, so it is read again. */
function join(baseId: string): void {
  const since = watched.get(baseId)?.since ?? performance.now()
  // Not connected yet: all that are watched join then.
  if (!socket?.connected) return
  socket.emit('base:join', baseId, performance.now() - since, ({ missed }) => {
    if (missed) reconnects.emit()
    joins.emit(baseId)
  })
}

/** Tells the server where the user is; without a connection it is not sent later, because it is repeated anyway. */
export function reportPosition(report: PositionReport): void {
  socket?.volatile.emit('presence', report)
}

function connect(): void {
  if (socket || isOpening || session.status() !== 'signedIn') return
  isOpening = true
  open()
    // Without live updates everything else works: the next watch tries again.
    .catch((error) => console.warn('no live updates', error))
    .finally(() => {
      isOpening = false
    })
}

async function open(): Promise<void> {
  await firstContent
  const { io } = await loadPart(() => import('socket.io-client'))
  // The user signed out while the library loaded.
  if (session.status() !== 'signedIn') return
  // Spec §9. Reads the token at each attempt, because it may have been renewed.
  const opened: Socket<ServerEvents, ClientEvents> = io({
    path: '/socket.io',
    transports: ['websocket', 'polling'],
    // Some proxies pass no WebSocket.
    tryAllTransports: true,
    timeout: 20_000,
    reconnectionDelay: 1000,
    reconnectionDelayMax: 5000,
    randomizationFactor: 0.5,
    auth: (send) =>
      void session.current().then(
        (token) => send({ token }),
        () => send({}),
      ),
  })
  socket = opened
  let wasOpen = false
  opened.on('connect', () => {
    for (const baseId of watched.keys()) join(baseId)
    if (wasOpen) reconnects.emit()
    wasOpen = true
    become('open')
  })
  opened.on('disconnect', (reason) => {
    if (connection.getState() !== 'restarting') silence = setTimeout(() => become('lost'), SILENCE_MS)
    // The server cut it, because rights changed: the library leaves coming back to us.
    if (reason === 'io server disconnect') opened.connect()
  })
  opened.on('connect_error', (error) => {
    const { data } = error as Error & { data?: { restoreId?: string | null } }
    if (data?.restoreId !== undefined && knownRestore !== undefined) compareRestore(data.restoreId)
    // Active: the network failed and the library tries again.
    if (opened.active) return
    // Refused, without a message (spec §8): the server's database is away, or the token could not be renewed. If the
    // session has ended, the next request says so, which closes the socket.
    setTimeout(
      () => {
        if (socket === opened) opened.connect()
      },
      REFUSED_MS * (0.5 + Math.random()),
    )
  })
  opened.on('change', changes.emit)
  opened.on('schema', schemaChanges.emit)
  opened.on('job', jobs.emit)
  opened.on('work', works.emit)
  opened.on('comment', comments.emit)
  opened.on('presence', presence.emit)
  opened.on('audit', audits.emit)
  opened.on('hook', hooks.emit)
  opened.on('notification', () => notifications.emit())
  opened.on('missed', () => reconnects.emit())
  opened.on('restored', compareRestore)
  opened.on('restarting', () => void loadAgainAfterRestart())
}

function close(): void {
  socket?.disconnect()
  socket = null
  if (connection.getState() !== 'restarting') become('idle')
}

session.subscribe((status) => {
  if (status !== 'signedIn') close()
  else if (watched.size > 0 || isUserWatched) connect()
})
