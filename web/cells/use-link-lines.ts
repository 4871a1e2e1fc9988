import { useRef, useState } from 'react'
import { useOnChange } from '../ui/effects.ts'
import { matches } from '../ui/matches.ts'
import type { LinkLine, LinkTarget } from './cell.ts'

/** Records per page. */
const PAGE = 30

/** Debounce of the search. */
const PAUSE_MS = 120

/** A listed record and whether it is linked now; it keeps its position when that changes. */
interface PickedLine {
  record: LinkLine
  isLinked: boolean
  /** The list it was read from. */
  from: 'linked' | 'linkable'
}

interface Lines {
  /** The search these lines were read for. */
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

/** The lines for a search, and operations on them. */
export type FoundLines = ReturnType<typeof useLinkLines>

/**
 * Lines of a link picker for a search: linked records first, then linkable ones. Until results arrive, earlier ones
 * that match the text stay; results of older searches are dropped.
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
      // The list shows the failure.
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
      // Records linked or unlinked since the last page have changed lists; known ones are skipped.
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
    /** Index of the first linkable line below the linked ones; -1 if there is one section. */
    parted: linked === 0 ? -1 : linked + (hasMoreLinked ? 1 : 0),
    /** Linked records not in `lines`. */
    hasMoreLinked,
    mayCreate: isReady && found.mayCreate,
    state: hasFailed ? 'failed' : isReady ? 'ready' : 'reading',
    /** Reads the next page, unless a read is running. */
    more(from: 'linked' | 'linkable'): void {
      if (reading.current === null && isReady && found.hasMore[from]) void more(from)
    },
    retry(): void {
      setFailed(false)
      setAttempt(attempt + 1)
    },
    /** Updates the line of a record after it was linked or unlinked. */
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

/** Pages may overlap when records move between reads. */
const joined = (before: PickedLine[], next: PickedLine[]): PickedLine[] => [
  ...before,
  ...without(next, before),
]

function without(lines: PickedLine[], known: readonly PickedLine[]): PickedLine[] {
  const ids = new Set(known.map((line) => line.record.id))
  return lines.filter((line) => !ids.has(line.record.id))
}
