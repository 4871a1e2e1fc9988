import { ArrowUpRight, Plus, X } from 'lucide-react'
import { useRef, useState } from 'react'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import type { Field } from '../../../../src/core/model.ts'
import type { LinkLine, LinkTarget } from '../../../cells/cell.ts'
import { LinkAdder, LinkWords } from '../../../cells/link-picker.tsx'
import { linksIn, titleOf } from '../../../cells/link-value.ts'
import { messageOf } from '../../../errors.ts'
import { m } from '../../../messages.gen.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { useOnChange } from '../../../ui/effects.ts'
import { useRowFocus } from '../../../ui/use-row-focus.ts'
import styles from './linked-list.module.css'

/** Initially loaded records; more are loaded on request. */
const PAGE = 10

/** Delays between polls for the values of a newly linked record, doubling each time. */
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000

export interface LinkedListProps {
  field: Field
  value: CellValue
  links: LinkTarget
  /** Id of the control that adds links, for the field's label. */
  id: string
  /** Error of the last change. */
  error: string | null
}

/** The linked records of an open record with some values; users can open, add and remove them. */
export function LinkedList({ field, value, links, id, error }: LinkedListProps) {
  const { lines, hasMore, problem, more, retry } = useLinked(links, value)
  const [isAdding, setAdding] = useState(false)
  const add = useRef<HTMLButtonElement>(null)
  const { count } = linksIn(value)
  // By their ids: the next record of a long list may take the place of one that is removed at once.
  const shown = lines.map((line) => line.id).join()
  const { list, onRemove } = useRowFocus<HTMLDivElement>(shown, 'li, [data-testid="add-link"]')

  function stopAdding(takesFocus: boolean) {
    setAdding(false)
    if (takesFocus) queueMicrotask(() => add.current?.focus())
  }

  return (
    <div ref={list} className={styles.box} data-testid="linked-list" data-field={field.id}>
      {lines.length > 0 && (
        <ul className={styles.list} aria-label={field.title}>
          {lines.map((line, at) => (
            <Line
              key={`${typeof line.id} ${line.id}`}
              line={line}
              links={links}
              onUnlink={() => {
                onRemove(at)
                void links.unlink(line)
              }}
            />
          ))}
        </ul>
      )}
      {problem !== null && (
        <p className={styles.problem} role="alert">
          {messageOf(problem)}
          <Button size="small" variant="ghost" onClick={retry}>
            {m.common_try_again()}
          </Button>
        </p>
      )}
      {hasMore && (
        <Button size="small" variant="ghost" onClick={more}>
          {m.records_show_more_of({ count })}
        </Button>
      )}
      {count === 0 && lines.length === 0 && !links.canWrite && (
        <span className={styles.nothing}>{m.common_none()}</span>
      )}
      {links.canWrite && !isAdding && (
        <button
          ref={add}
          id={id}
          type="button"
          className={styles.add}
          aria-haspopup="listbox"
          data-testid="add-link"
          onClick={() => setAdding(true)}
        >
          <Plus size={14} aria-hidden />
          {links.isSingle && count > 0
            ? m.records_choose_another_record({ record: links.singular })
            : m.records_link_record({ record: links.singular })}
        </button>
      )}
      {isAdding && (
        <LinkAdder field={field} value={value} links={links} label={field.title} onClose={stopAdding} />
      )}
      {error && (
        <p className={styles.problem} role="alert">
          {error}
        </p>
      )}
    </div>
  )
}

interface LineProps {
  line: LinkLine
  links: LinkTarget
  onUnlink: () => void
}

function Line({ line, links, onUnlink }: LineProps) {
  return (
    <li className={styles.line} data-testid="linked-line">
      <button type="button" className={styles.name} disabled={!links.open} onClick={() => links.open?.(line)}>
        <LinkWords record={line} />
        {links.open && <ArrowUpRight size={14} aria-hidden className={`flip-in-rtl ${styles.arrow}`} />}
      </button>
      {links.canWrite && (
        <IconButton
          icon={X}
          size="small"
          iconSize={14}
          label={m.records_unlink_title({ title: line.name })}
          onClick={onUnlink}
        />
      )}
    </li>
  )
}

/** The linked records, reloaded when the cell changes. */
function useLinked(links: LinkTarget, value: CellValue) {
  const [lines, setLines] = useState<LinkLine[]>([])
  const [hasMore, setMore] = useState(false)
  const [problem, setProblem] = useState<unknown>(null)
  const [wanted, setWanted] = useState(PAGE)
  const [attempt, setAttempt] = useState(0)
  const target = useRef(links)
  target.current = links
  const shown = linksIn(value)

  useOnChange([value, wanted, attempt], () => {
    if (shown.count === 0) {
      setLines([])
      setMore(false)
      return
    }
    const controller = new AbortController()
    let again: ReturnType<typeof setTimeout> | undefined
    const read = async (pauseMs: number): Promise<void> => {
      const found: LinkLine[] = []
      let goesOn = true
      while (goesOn && found.length < wanted) {
        const page = { search: '', offset: found.length, limit: Math.min(100, wanted - found.length) }
        const next = await target.current.read('linked', page, controller.signal)
        found.push(...next.lines)
        goesOn = next.hasMore && next.lines.length > 0
      }
      if (controller.signal.aborted) return
      setLines(found)
      setMore(goesOn)
      setProblem(null)
      // A new link may not have reached the server yet.
      const ids = new Set(found.map((line) => line.id))
      const isBehind = shown.records.some((record) => !ids.has(record.id))
      if (isBehind && pauseMs < LONGEST_PAUSE_MS) again = setTimeout(() => start(pauseMs * 2), pauseMs)
    }
    const start = (pauseMs: number) =>
      void read(pauseMs).catch((error) => {
        if (!controller.signal.aborted) setProblem(error)
      })
    start(FIRST_PAUSE_MS)
    return () => {
      clearTimeout(again)
      controller.abort()
    }
  })

  // Shows link changes at once; the details follow from the server.
  const known = new Map(lines.map((line) => [line.id, line]))
  const named = shown.records.map(
    (record) => known.get(record.id) ?? { ...record, name: titleOf(record), details: [] },
  )
  const listed = new Set(named.map((line) => line.id))
  const isWhole = shown.count === shown.records.length
  const rest = isWhole ? [] : lines.filter((line) => !listed.has(line.id))
  return {
    lines: [...named, ...rest],
    hasMore: hasMore && !isWhole,
    problem,
    more: () => setWanted(wanted + 50),
    retry: () => setAttempt(attempt + 1),
  }
}
