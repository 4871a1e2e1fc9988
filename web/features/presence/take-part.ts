import {
  isSamePosition,
  type Position,
  type Presence,
  type PresenceNews,
  REPORT_EVERY_MS,
} from '../../../src/core/presence.ts'
import { session } from '../../session/index.ts'
import { connection, onJoin, onPresence, reportPosition } from '../../socket.ts'
import { colorOf } from '../../ui/avatar.tsx'
import { hiddenUser, otherCells, others, ownPosition, wantedCell } from './presence-state.ts'

/** Least time between two reports. */
const THROTTLE_MS = 100

/** A tab in the background is reported for this time. */
const BACKGROUND_MS = 20_000

/** Reports the user's position in a base, and follows others in it, until the returned function is called. */
export function takePart(baseId: string): () => void {
  const known = new Map<string, Presence>()
  let reported: Position | null = null
  let throttle: ReturnType<typeof setTimeout> | undefined
  let reportedAt = Number.NEGATIVE_INFINITY
  let hiddenSince = document.hidden ? performance.now() : null

  function report(): void {
    clearTimeout(throttle)
    throttle = undefined
    if (hiddenSince !== null && performance.now() - hiddenSince > BACKGROUND_MS) return
    reported = currentPosition()
    reportedAt = performance.now()
    const userId = session.userId()
    reportPosition({ ...reported, baseId, isHidden: userId !== null && hiddenUser.getState() === userId })
  }

  function reportSoon(): void {
    if (reported && isSamePosition(reported, currentPosition())) return
    throttle ??= setTimeout(report, Math.max(0, reportedAt + THROTTLE_MS - performance.now()))
  }

  function show(): void {
    const userId = session.userId()
    const list = [...known.values()].filter((each) => each.userId !== userId)
    others.setState(list, true)
    showCells()
  }

  function showCells(): void {
    const tableId = ownPosition.getState().screen?.tableId
    const cells = others.getState().flatMap(({ id, name, userId, recordId, fieldId, isEditing, ...each }) => {
      if (each.tableId !== tableId || recordId === null || fieldId === null) return []
      return [{ id, name, color: colorOf(userId), recordId, fieldId, isEditing }]
    })
    if (cells.length + otherCells.getState().length > 0) otherCells.setState(cells, true)
  }

  function take(news: PresenceNews): void {
    if (news.baseId !== baseId) return
    if (news.isComplete) known.clear()
    for (const id of news.gone) known.delete(id)
    for (const each of news.here) known.set(each.id, each)
    show()
  }

  const onVisibility = () => {
    hiddenSince = document.hidden ? performance.now() : null
    if (!document.hidden) report()
  }
  document.addEventListener('visibilitychange', onVisibility)
  const beat = setInterval(report, REPORT_EVERY_MS)
  const stops = [
    onPresence(take),
    onJoin((joined) => joined === baseId && report()),
    hiddenUser.subscribe(report),
    ownPosition.subscribe((now, before) => {
      reportSoon()
      if (now.screen !== before.screen) showCells()
    }),
    // While the connection is lost, others may be anywhere.
    connection.subscribe((state) => {
      if (state === 'open') return
      known.clear()
      show()
    }),
  ]
  report()
  return () => {
    for (const stop of stops) stop()
    document.removeEventListener('visibilitychange', onVisibility)
    clearInterval(beat)
    clearTimeout(throttle)
    known.clear()
    show()
    wantedCell.setState(null, true)
  }
}

function currentPosition(): Position {
  const { screen, cell, record } = ownPosition.getState()
  const at = screen && (record?.fieldId ? record : (cell ?? record))
  return {
    tableId: screen?.tableId ?? null,
    viewId: screen?.viewId ?? null,
    recordId: at?.recordId ?? null,
    fieldId: at?.fieldId ?? null,
    isEditing: at?.isEditing ?? false,
  }
}
