import { useEffect, useRef, useState } from 'react'
import type { CsvFormat } from '../../../src/core/csv/format.ts'
import { type Analyser, createAnalyser } from './analyse.ts'
import type { Analysis, FileSamples } from './analysis.ts'
import { type DraftColumn, type DraftTarget, draftColumns, withType } from './draft.ts'
import { type ImportSource, readSamples } from './source.ts'
import { readBytes } from './transfer.ts'

/** A file and its import settings before the import. */
export interface Draft {
  key: number
  source: ImportSource
  /** Format options set by the user; the others are detected. */
  chosen: Partial<CsvFormat>
  monthFirst: boolean
  target: DraftTarget
  isReading: boolean
  /** Null until the file has been analysed, or if that failed. */
  analysis: Analysis | null
  error: Error | null
  columns: DraftColumn[]
}

export type Drafts = ReturnType<typeof useDrafts>

/** Files of an import dialog; a worker analyses each, again whenever its format changes. */
export function useDrafts() {
  const [drafts, setDrafts] = useState<Draft[]>([])
  const analyser = useRef<Analyser | null>(null)
  const samples = useRef(new Map<number, Promise<FileSamples>>())
  /** Sequence number of the latest analysis per file; older results are dropped. */
  const latest = useRef(new Map<number, number>())
  const nextKey = useRef(1)

  useEffect(
    () => () => {
      analyser.current?.close()
      analyser.current = null
    },
    [],
  )

  const change = (key: number, patch: (draft: Draft) => Partial<Draft>) =>
    setDrafts((all) => all.map((draft) => (draft.key === key ? { ...draft, ...patch(draft) } : draft)))

  async function read({ key, source, chosen, monthFirst }: Draft): Promise<void> {
    const turn = (latest.current.get(key) ?? 0) + 1
    latest.current.set(key, turn)
    const isCurrent = () => latest.current.get(key) === turn
    try {
      const known = samples.current.get(key) ?? readSamples(source, readBytes)
      samples.current.set(key, known)
      const parts = await known
      analyser.current ??= createAnalyser()
      const analysis = await analyser.current.analyse(parts, chosen, monthFirst)
      if (!isCurrent()) return
      change(key, ({ target }) => ({
        analysis,
        error: null,
        isReading: false,
        columns: draftColumns(analysis, target),
      }))
    } catch (error) {
      if (!isCurrent()) return
      samples.current.delete(key)
      const reason = error instanceof Error ? error : new Error(String(error))
      change(key, () => ({ analysis: null, error: reason, isReading: false, columns: [] }))
    }
  }

  function reread(draft: Draft): void {
    change(draft.key, () => ({ ...draft, isReading: true }))
    void read(draft)
  }

  return {
    drafts,
    add(sources: { source: ImportSource; target: DraftTarget }[]): number[] {
      const added = sources.map(({ source, target }): Draft => {
        const key = nextKey.current++
        const empty = { analysis: null, error: null, columns: [], isReading: true }
        return { key, source, target, chosen: {}, monthFirst: false, ...empty }
      })
      setDrafts((all) => [...all, ...added])
      for (const draft of added) void read(draft)
      return added.map(({ key }) => key)
    },
    remove: (key: number) => setDrafts((all) => all.filter((draft) => draft.key !== key)),
    /** Changes the format and analyses the file again. */
    choose: (draft: Draft, chosen: Partial<CsvFormat>) =>
      reread({ ...draft, chosen: { ...draft.chosen, ...chosen } }),
    chooseMonthFirst: (draft: Draft, monthFirst: boolean) => reread({ ...draft, monthFirst }),
    tryAgain: (draft: Draft) => reread(draft),
    /** Keeps the columns for another title; maps them again for another table. */
    setTarget: (key: number, target: DraftTarget) =>
      change(key, (draft) => {
        const isSame = draft.target.kind === 'new' && target.kind === 'new'
        const columns = isSame || !draft.analysis ? draft.columns : draftColumns(draft.analysis, target)
        return { target, columns }
      }),
    setColumn: (key: number, index: number, patch: Partial<DraftColumn>) =>
      change(key, ({ columns, analysis }) => ({
        columns: columns.map((column) => {
          if (column.index !== index) return column
          const next = { ...column, ...patch }
          return patch.type && analysis ? withType(next, patch.type, analysis) : next
        }),
      })),
    /** Makes another column the display field of the new table. */
    setDisplay: (key: number, index: number) =>
      change(key, ({ columns }) => ({
        columns: columns.map((column) => ({ ...column, isDisplay: column.index === index })),
      })),
    tickAll: (key: number, isOn: boolean) =>
      change(key, ({ columns, target }) => ({
        columns: columns.map((column) => ({
          ...column,
          isOn: isOn && (target.kind === 'new' || column.fieldId !== null),
        })),
      })),
  }
}
