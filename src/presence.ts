import type { Socket as Connection } from 'socket.io'
import type { Cluster } from './cluster.ts'
import type { UserActor } from './core/actor.ts'
import {
  isSamePosition,
  isSameScreen,
  POSITION_TTL_MS,
  type PositionReport,
  type Presence,
  type PresenceNews,
  readReport,
} from './core/presence.ts'
import type { Events } from './events.ts'

/** Changes within this time of the last message are collected, and sent as one per table. */
const BATCH_MS = 100
/** How often connections that no longer report are removed. */
const SWEEP_EVERY_MS = 1_000
/** Connections of a base that are shown to others. Further ones see others but are not shown. */
const MAX_SHOWN = 1_000
/** Reports of a connection: this many at once, and per second on average. Others are dropped. */
const REPORTS_AT_ONCE = 40
const REPORTS_PER_SECOND = 15
/** A connection with as many dropped reports in a row is closed. */
const MAX_EXCESS = 400
/** A server that is not heard of for this time has ended; it says every `SWEEP_EVERY_MS` that it runs. */
const SERVER_TTL_MS = 3_500

interface PresenceDeps {
  events: Events
  cluster: Pick<Cluster, 'isShared' | 'isAlone'>
  /** Sends to the connections of a room that still have access to the base. */
  send(room: string, news: PresenceNews): void
  /** Display name of a user, or the e-mail address. */
  nameOf(actor: UserActor): Promise<string>
  onError(error: unknown): void
}

/** A connection that reports its position. */
interface Member {
  id: string
  connection: Connection
  userId: string
  name: Promise<string>
  /** Reports that it may send now; negative: reports dropped in a row. */
  budget: number
  budgetAt: number
  /** The base and table that it watches; null before the first report and after silence. */
  watches: { baseId: string; tableId: string | null } | null
  reportedAt: number
}

interface BasePresence {
  /** Shown connections to all servers, by id. */
  shown: Map<string, Presence>
  /** Connections to send, with the part that others have to know. */
  moved: Map<string, 'cell' | 'screen'>
  gone: Set<string>
  /** Number of local watchers by table; null: other screens. */
  watchers: Map<string | null, number>
}

const roomOf = (baseId: string, tableId: string | null): string => `presence:${baseId}:${tableId ?? ''}`

/**
 * The people in each base and where they are, in memory only. Each server knows the connections of all servers: it
 * publishes changes of its own in batches, and asks the others for theirs when it starts and when messages were lost.
 */
export function createPresence({ events, cluster, send, nameOf, onError }: PresenceDeps) {
  /** Prefix of the ids of this server's connections. */
  const server = crypto.randomUUID().slice(0, 8)
  const members = new Map<string, Member>()
  const bases = new Map<string, BasePresence>()
  /** Bases with changes to send. */
  const dirty = new Set<string>()
  /** Other servers with people, when they were heard of, and the base of each of their connections. */
  const others = new Map<string, { heardAt: number; connections: Map<string, string> }>()
  let nextId = 0
  let batch: Timer | null = null
  let flushedAt = Number.NEGATIVE_INFINITY

  function baseOf(baseId: string): BasePresence {
    const known = bases.get(baseId)
    if (known) return known
    const created: BasePresence = {
      shown: new Map(),
      moved: new Map(),
      gone: new Set(),
      watchers: new Map(),
    }
    bases.set(baseId, created)
    return created
  }

  function sendSoon(baseId: string): void {
    dirty.add(baseId)
    // The first change after a pause is sent at once: it may have to pass two servers.
    batch ??= setTimeout(flush, Math.max(0, flushedAt + BATCH_MS - performance.now()))
  }

  /** Shows a connection, or its new position. */
  function show(baseId: string, presence: Presence): void {
    const base = baseOf(baseId)
    const before = base.shown.get(presence.id)
    if (before ? isSamePosition(before, presence) : base.shown.size >= MAX_SHOWN) return
    base.shown.set(presence.id, presence)
    base.gone.delete(presence.id)
    const isMoveInTable = before && isSameScreen(before, presence) && base.moved.get(presence.id) !== 'screen'
    base.moved.set(presence.id, isMoveInTable ? 'cell' : 'screen')
    sendSoon(baseId)
  }

  function hide(baseId: string, id: string): void {
    const base = bases.get(baseId)
    if (!base?.shown.delete(id)) return
    base.moved.delete(id)
    base.gone.add(id)
    sendSoon(baseId)
  }

  function flush(): void {
    batch = null
    flushedAt = performance.now()
    for (const baseId of dirty) {
      const base = bases.get(baseId)
      if (!base) continue
      sendChanges(baseId, base)
      publish(baseId, base)
      base.moved.clear()
      base.gone.clear()
      if (base.shown.size === 0 && base.watchers.size === 0) bases.delete(baseId)
    }
    dirty.clear()
  }

  function sendChanges(baseId: string, { shown, moved, gone, watchers }: BasePresence): void {
    const inTable = new Map<string | null, Presence[]>()
    const onOtherScreen: Presence[] = []
    for (const [id, level] of moved) {
      const presence = shown.get(id)!
      const list = inTable.get(presence.tableId)
      if (list) list.push(presence)
      else inTable.set(presence.tableId, [presence])
      if (level === 'screen') onOtherScreen.push(presence)
    }
    const reachesAll = onOtherScreen.length > 0 || gone.size > 0
    for (const tableId of watchers.keys()) {
      if (!reachesAll && !inTable.has(tableId)) continue
      const coarse = onOtherScreen.filter((each) => each.tableId !== tableId).map(withoutCell)
      const here = [...(inTable.get(tableId) ?? []), ...coarse]
      if (here.length === 0 && gone.size === 0) continue
      send(roomOf(baseId, tableId), { baseId, here, gone: [...gone] })
    }
  }

  const isOwn = (id: string): boolean => id.startsWith(server)

  function publish(baseId: string, { shown, moved, gone }: BasePresence): void {
    if (!cluster.isShared || cluster.isAlone()) return
    const here = [...moved.keys()].filter(isOwn).map((id) => shown.get(id)!)
    const left = [...gone].filter(isOwn)
    if (here.length + left.length > 0) events.emit('presence.moved', { server, baseId, here, gone: left })
  }

  // Connections to this server

  /** True if the connection may report now; closes one that floods. */
  function spend(member: Member): boolean {
    const now = performance.now()
    const refill = ((now - member.budgetAt) / 1000) * REPORTS_PER_SECOND
    member.budget = Math.min(REPORTS_AT_ONCE, member.budget + refill) - 1
    member.budgetAt = now
    if (member.budget < -MAX_EXCESS) member.connection.disconnect(true)
    return member.budget >= 0
  }

  function memberOf(connection: Connection, actor: UserActor): Member {
    const known = members.get(connection.id)
    if (known) return known
    nextId++
    const member: Member = {
      id: `${server}.${nextId}`,
      connection,
      userId: actor.id,
      name: nameOf(actor).catch((error) => {
        onError(error)
        return actor.email
      }),
      budget: REPORTS_AT_ONCE,
      budgetAt: performance.now(),
      watches: null,
      reportedAt: 0,
    }
    members.set(connection.id, member)
    return member
  }

  /** Lets a connection watch a table, and sends it the people whom it does not know yet. */
  function watch(member: Member, baseId: string, tableId: string | null): void {
    const { watches, connection } = member
    if (watches?.baseId === baseId && watches.tableId === tableId) return
    const isNewBase = watches?.baseId !== baseId
    if (isNewBase) unwatch(member)
    else stopWatching(member, baseId, watches.tableId)
    member.watches = { baseId, tableId }
    const { watchers, shown } = baseOf(baseId)
    watchers.set(tableId, (watchers.get(tableId) ?? 0) + 1)
    Promise.resolve(connection.join(roomOf(baseId, tableId))).catch(onError)
    const known = [...shown.values()].filter((each) => isNewBase || each.tableId === tableId)
    const here = known.map((each) => (each.tableId === tableId ? each : withoutCell(each)))
    const news: PresenceNews = { baseId, here, gone: [] }
    if (isNewBase) send(connection.id, { ...news, isComplete: true })
    else if (here.length > 0) send(connection.id, news)
  }

  function stopWatching({ connection }: Member, baseId: string, tableId: string | null): void {
    const { watchers } = baseOf(baseId)
    const left = (watchers.get(tableId) ?? 1) - 1
    if (left > 0) watchers.set(tableId, left)
    else watchers.delete(tableId)
    Promise.resolve(connection.leave(roomOf(baseId, tableId))).catch(onError)
  }

  /** Removes a connection from the base that it watches. */
  function unwatch(member: Member): void {
    const { watches } = member
    if (!watches) return
    member.watches = null
    stopWatching(member, watches.baseId, watches.tableId)
    hide(watches.baseId, member.id)
    // Also removes the state of a base that nobody watches.
    sendSoon(watches.baseId)
  }

  async function take(member: Member, report: PositionReport, mayRead: () => boolean): Promise<void> {
    const name = await member.name
    // It may have been closed, or have left the base, while its name was read.
    if (members.get(member.connection.id) !== member || !mayRead()) return
    const { baseId, isHidden, ...position } = report
    member.reportedAt = performance.now()
    watch(member, baseId, position.tableId)
    if (isHidden) hide(baseId, member.id)
    else show(baseId, { ...position, id: member.id, userId: member.userId, name })
  }

  const sweeping = setInterval(() => {
    // Servers first, whose time is shorter: after a pause of this process, people leave in the same order as without.
    const lastSign = performance.now() - SERVER_TTL_MS
    for (const [from, { heardAt }] of others) if (heardAt < lastSign) forgetServer(from)
    const oldest = performance.now() - POSITION_TTL_MS
    for (const member of members.values()) if (member.reportedAt < oldest) unwatch(member)
    if (!cluster.isShared) return
    if (members.size > 0 && !cluster.isAlone()) events.emit('presence.alive', { server })
  }, SWEEP_EVERY_MS).unref()

  // Other servers

  function takeOthers(
    from: string,
    baseId: string,
    here: readonly Presence[],
    gone: readonly string[],
  ): void {
    const { connections } = hearOf(from)
    for (const presence of here) {
      connections.set(presence.id, baseId)
      show(baseId, presence)
    }
    for (const id of gone) {
      connections.delete(id)
      hide(baseId, id)
    }
  }

  function hearOf(from: string) {
    const known = others.get(from) ?? { heardAt: 0, connections: new Map<string, string>() }
    known.heardAt = performance.now()
    others.set(from, known)
    return known
  }

  function forgetServer(from: string): void {
    for (const [id, baseId] of others.get(from)?.connections ?? []) hide(baseId, id)
    others.delete(from)
  }

  function tellAll(): void {
    const own = [...bases].map(([baseId, { shown }]) => ({
      baseId,
      here: [...shown.values()].filter(({ id }) => isOwn(id)),
    }))
    events.emit('presence.told', { server, bases: own.filter(({ here }) => here.length > 0) })
  }

  /** After a start or lost messages: asks the other servers for their connections, and tells them of its own. */
  function exchange(): void {
    events.emit('presence.asked', { server })
    tellAll()
  }

  const unsubscribe = [
    events.on('presence.moved', ({ server: from, baseId, here, gone }) => {
      if (from !== server) takeOthers(from, baseId, here, gone)
    }),
    events.on('presence.asked', ({ server: from }) => {
      if (from !== server) tellAll()
    }),
    events.on('presence.told', ({ server: from, bases: told }) => {
      if (from === server) return
      const named = new Set(told.flatMap(({ here }) => here.map(({ id }) => id)))
      for (const [id, baseId] of [...hearOf(from).connections])
        if (!named.has(id)) takeOthers(from, baseId, [], [id])
      for (const { baseId, here } of told) takeOthers(from, baseId, here, [])
    }),
    events.on('presence.alive', ({ server: from }) => {
      if (from === server) return
      // Its connections were dropped during a silence.
      if (!others.has(from)) events.emit('presence.asked', { server })
      hearOf(from)
    }),
    events.on('events.missed', () => cluster.isShared && exchange()),
  ]
  if (cluster.isShared) exchange()

  return {
    /**
     * Takes a browser's report. Malformed ones, those beyond the rate limit and those of bases that the connection may
     * not read are dropped.
     *
     * @param mayRead whether the connection follows the base, and so was admitted to it
     */
    report(
      connection: Connection,
      actor: UserActor,
      input: unknown,
      mayRead: (baseId: string) => boolean,
    ): void {
      const member = memberOf(connection, actor)
      if (!spend(member)) return
      const report = readReport(input)
      if (!report || !mayRead(report.baseId)) return
      take(member, report, () => mayRead(report.baseId)).catch(onError)
    },

    /** Removes a connection from a base; without one, because it was closed. */
    leave(connection: Connection, baseId?: string): void {
      const member = members.get(connection.id)
      if (!member) return
      if (baseId === undefined) members.delete(connection.id)
      if (baseId === undefined || member.watches?.baseId === baseId) unwatch(member)
    },

    /** Tells other servers that the connections to this one are gone. */
    close(): void {
      clearInterval(sweeping)
      if (batch) clearTimeout(batch)
      members.clear()
      for (const stop of unsubscribe) stop()
      if (cluster.isShared) events.emit('presence.told', { server, bases: [] })
    },
  }
}

const withoutCell = (presence: Presence): Presence =>
  presence.recordId === null && presence.fieldId === null
    ? presence
    : { ...presence, recordId: null, fieldId: null, isEditing: false }
