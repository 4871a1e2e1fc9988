import { useRef, useState } from 'react'
import { useOnChange } from '../ui/effects.ts'
import { matches } from '../ui/matches.ts'
import type { LinkLine, LinkTarget } from './cell.ts'

const PAGE = 30

/** A pause in typing before the server is asked. */
const PAUSE_MS = 120

/** A record in the list, and whether it is linked by now: it keeps its place when that changes. */
export interface PickedLine {
  record: LinkLine
  isLinked: boolean
  /** Which of the two lists it was read from. */
  from: 'linked' | 'linkable'
}

interface Lines {
  /** What was searched for when they were read. */
  search: string | null
  lines: PickedLine[]
  hasMore: { linked: boolean; linkable: boolean }
  mayCreate: boolean
}

const NONE: Lines = {
  search: null,
  lines: [],
  hasMore: { linked: false, linkable: false },
  mayCreate: false,
}

export type LinkLines = ReturnType<typeof useLinkLines>

/**
 * The lines of a picker of links, found as one types: those that are linked, and after them those that
 * can be. Until the answer is here, what was read before is shown as far as it fits the new text; answers
 * to older texts are dropped.
 */
export function useLinkLines(links: LinkTarget, text: string) {
  const [found, setFound] = useState(NONE)
  const [hasFailed, setFailed] = useState(false)
  const [attempt, setAttempt] = useState(0)
  const reading = useRef<AbortController | null>(null)
  const target = useRef(links)
  target.current = links
  const search = text.trim()
  const isReady = found.search === search

  async function run(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    reading.current?.abort()
    const controller = new AbortController()
    reading.current = controller
    try {
      await work(controller.signal)
    } catch {
      // Said in the list, where one is looking.
      if (!controller.signal.aborted) setFailed(true)
    } finally {
      if (reading.current === controller) reading.current = null
    }
  }

  const read = () =>
    run(async (signal) => {
      const page = { search, offset: 0, limit: PAGE }
      const [linked, linkable] = await Promise.all([
        target.current.read('linked', page, signal),
        target.current.read('linkable', page, signal),
      ])
      if (signal.aborted) return
      setFailed(false)
      setFound({
        search,
        lines: joined(asLines(linked.lines, 'linked'), asLines(linkable.lines, 'linkable')),
        hasMore: { linked: linked.hasMore, linkable: linkable.hasMore },
        mayCreate: linkable.mayCreate,
      })
    })

  const more = (from: 'linked' | 'linkable') =>
    run(async (signal) => {
      // The server's list has lost those that changed sides since; those that joined it come once more, and are known.
      const offset = found.lines.filter(
        (line) => line.from === from && line.isLinked === (from === 'linked'),
      ).length
      const next = await target.current.read(from, { search, offset, limit: PAGE }, signal)
      if (signal.aborted) return
      setFound((before) => {
        const ofOther = before.lines.filter((line) => line.from !== from)
        const own = before.lines.filter((line) => line.from === from)
        const fresh = without(asLines(next.lines, from), before.lines)
        return {
          ...before,
          lines: from === 'linked' ? [...own, ...fresh, ...ofOther] : [...ofOther, ...own, ...fresh],
          hasMore: { ...before.hasMore, [from]: next.hasMore },
        }
      })
    })

  const hasRead = useRef(false)
  useOnChange([search, attempt], () => {
    if (isReady && attempt === 0) return
    const timer = setTimeout(() => void read(), hasRead.current ? PAUSE_MS : 0)
    hasRead.current = true
    return () => {
      clearTimeout(timer)
      reading.current?.abort()
    }
  })

  const shown = isReady ? found.lines : found.lines.filter(({ record }) => matches(record.name, search))
  const linked = shown.filter((line) => line.from === 'linked').length
  const hasMoreLinked = isReady && found.hasMore.linked
  return {
    lines: shown,
    /** Where the part of those that can be linked begins, under those that are; -1: there is one part. */
    parted: linked === 0 ? -1 : linked + (hasMoreLinked ? 1 : 0),
    /** Records that are linked beyond those in `lines`. */
    hasMoreLinked,
    hasMoreLinkable: isReady && found.hasMore.linkable,
    mayCreate: isReady && found.mayCreate,
    state: hasFailed ? 'failed' : isReady ? 'ready' : 'reading',
    /** Reads on; nothing while a reading is under way. */
    more(from: 'linked' | 'linkable'): void {
      if (reading.current === null && isReady && found.hasMore[from]) void more(from)
    },
    retry(): void {
      setFailed(false)
      setAttempt(attempt + 1)
    },
    /** A record was linked, or not any more: its line says so where it stands. */
    mark(record: LinkLine, isLinked: boolean): void {
      setFound((before) => ({
        ...before,
        lines: before.lines.map((line) => (line.record.id === record.id ? { ...line, isLinked } : line)),
      }))
    },
  } as const
}

const asLines = (records: readonly LinkLine[], from: PickedLine['from']): PickedLine[] =>
  records.map((record) => ({ record, from, isLinked: from === 'linked' }))

/** Lines that moved meanwhile may come a second time. */
const joined = (before: PickedLine[], next: PickedLine[]): PickedLine[] => [
  ...before,
  ...without(next, before),
]

function without(lines: PickedLine[], known: readonly PickedLine[]): PickedLine[] {
  const ids = new Set(known.map((line) => line.record.id))
  return lines.filter((line) => !ids.has(line.record.id))
}
