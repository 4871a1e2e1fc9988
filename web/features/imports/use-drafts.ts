import { useEffect, useRef, useState } from 'react'
import { fieldType } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import { freeTitle } from '../../../src/core/free-title.ts'
import type { Analysis, TableAnalysis } from '../../../src/core/imports/analysis.ts'
import {
  type DraftColumn,
  type DraftTarget,
  draftColumns,
  withType,
} from '../../../src/core/imports/draft.ts'
import type { ChosenFormat, ExcelFormat, SheetRange } from '../../../src/core/imports/format.ts'
import { fieldForList } from '../../../src/core/imports/nested-lists.ts'
import type { Field } from '../../../src/core/model.ts'
import { m } from '../../messages.gen.ts'
import { showError } from '../../ui/attempt.ts'
import { type Analyser, createAnalyser } from './analyse.ts'
import { analyseUpload } from './analyse-upload.ts'
import { AnalyseError, type FileSamples } from './analysis.ts'
import { loadTarget } from './load-target.ts'
import { type ImportSource, readSamples, tableTitleOf } from './source.ts'
import { readBytes, uploadSource } from './transfer.ts'

/** A table of a file and its import settings before the import. */
export interface Draft {
  key: number
  source: ImportSource
  /** Name of the table in the file; '' if the file is the table. */
  table: string
  /** The table and column with the lists that this table holds. */
  parent: { key: number; column: number } | null
  /** False for a table that is offered, but not imported. */
  isOn: boolean
  /** Format options set by the user; the others are detected. */
  chosen: ChosenFormat
  /** Whether types are checked against all rows; undefined: depends on the size of the file. */
  readAll: boolean | undefined
  target: DraftTarget
  /** Titles of the base's tables. */
  baseTitles: readonly string[]
  isReading: boolean
  progress: DraftProgress
  /** Null until the file has been analysed, or if that failed. */
  analysis: Analysis | null
  error: Error | null
  /** What a person should know before the import, such as parts of the file that are left out. */
  notes: readonly string[]
  /** The part of its sheet that a table was found in, which a person may have replaced by the whole sheet. */
  part?: SheetRange
  columns: DraftColumn[]
}

/** Progress of an analysis on the server. */
export interface DraftProgress {
  /** Share of the file that is uploaded, from 0 to 1; null: nothing to upload. */
  uploaded: number | null
  /** True while the connection is lost; the upload goes on by itself. */
  isOffline?: boolean
  rows: number
}

interface Upload {
  uploadId: Promise<string>
  controller: AbortController
}

const NO_PROGRESS: DraftProgress = { uploaded: null, rows: 0 }

/** True until the user has chosen the encoding of a text that reads well in several. */
export const isEncodingOpen = ({ analysis }: Draft): boolean => (analysis?.encodings ?? []).length > 0

export type Drafts = ReturnType<typeof useDrafts>

/** True if the columns of a file stay mapped as they are. */
function isSameTable(before: DraftTarget, after: DraftTarget): boolean {
  if (before.kind === 'new' || after.kind === 'new') return before.kind === after.kind
  // Only an update maps the id of a record.
  const isSameUse = (before.update === undefined) === (after.update === undefined)
  return before.tableId === after.tableId && isSameUse
}

/** True for a table with JSON fields, which objects of a file fill as a whole unless the user says otherwise. */
const keepsObjects = (target: DraftTarget): boolean =>
  target.kind === 'append' && target.fields.some(({ type }) => fieldType(type).storage === 'json')

/** Tables of an import dialog. A worker or the server analyses each file, again whenever a format changes. */
export function useDrafts() {
  const [drafts, setDrafts] = useState<Draft[]>([])
  const analyser = useRef<Analyser | null>(null)
  const samples = useRef(new Map<ImportSource, Promise<FileSamples>>())
  /** Uploads of files; one goes on while the analyses of its tables change, until its last table is removed. */
  const uploads = useRef(new Map<ImportSource, Upload>())
  /** The latest analysis per draft; a newer one ends it. */
  const latest = useRef(new Map<number, AbortController>())
  const nextKey = useRef(1)

  useEffect(
    () => () => {
      for (const controller of latest.current.values()) controller.abort()
      for (const { controller } of uploads.current.values()) controller.abort()
      analyser.current?.close()
      analyser.current = null
    },
    [],
  )

  const change = (key: number, patch: (draft: Draft) => Partial<Draft>) =>
    setDrafts((all) => all.map((draft) => (draft.key === key ? { ...draft, ...patch(draft) } : draft)))

  /** The analysis of a text file in the browser; null if the server has to read the file. */
  async function analyseHere({ source, chosen, readAll }: Draft): Promise<Analysis | null> {
    if (readAll || uploads.current.has(source)) return null
    const known = samples.current.get(source) ?? readSamples(source, readBytes)
    samples.current.set(source, known)
    try {
      analyser.current ??= createAnalyser()
      return await analyser.current.analyse(await known, chosen)
    } catch (error) {
      samples.current.delete(source)
      throw error
    }
  }

  function upload(key: number, source: ImportSource): Promise<string> {
    const known = uploads.current.get(source)
    if (known) return known.uploadId
    const controller = new AbortController()
    const { signal } = controller
    const onProgress = (sent: number) =>
      change(key, () => ({ progress: { uploaded: sent / Math.max(1, source.size), rows: 0 } }))
    const onLost = (isOffline: boolean) =>
      change(key, ({ progress }) => ({ progress: { ...progress, isOffline } }))
    const uploadId = uploadSource(source, { signal, onProgress, onLost })
    uploads.current.set(source, { uploadId, controller })
    uploadId.catch(() => uploads.current.delete(source))
    return uploadId
  }

  async function analyseThere(
    { key, source, chosen: given, readAll, target }: Draft,
    signal: AbortSignal,
  ): Promise<TableAnalysis[]> {
    const chosen = { ...(keepsObjects(target) && { flatten: false }), ...given }
    const uploadId = await upload(key, source)
    change(key, () => ({ progress: NO_PROGRESS }))
    return analyseUpload(
      uploadId,
      { chosen, readAll },
      { signal, onRows: (rows) => change(key, () => ({ progress: { uploaded: null, rows } })) },
    )
  }

  async function read(draft: Draft): Promise<void> {
    const { key } = draft
    latest.current.get(key)?.abort()
    const controller = new AbortController()
    latest.current.set(key, controller)
    try {
      const analysis = await analyseHere(draft)
      const tables = analysis
        ? [{ name: '', isHidden: false, analysis, problem: null }]
        : await analyseThere(draft, controller.signal)
      if (latest.current.get(key) === controller) show(draft, tables)
    } catch (error) {
      if (latest.current.get(key) !== controller) return
      const reason = error instanceof Error ? error : new Error(String(error))
      change(key, () => ({
        analysis: null,
        error: reason,
        isReading: false,
        columns: [],
        progress: NO_PROGRESS,
      }))
    }
  }

  /** Shows what was found in place of the draft: a draft per table, without the empty ones. */
  function show({ key, source, table: known }: Draft, tables: TableAnalysis[]): void {
    const shown = tables.filter(({ analysis, problem }) => analysis !== null || problem !== null)
    if (shown.length === 0) {
      const error = new AnalyseError(m.imports_no_rows_found(), 'foreign')
      change(key, () => ({ analysis: null, error, isReading: false, columns: [] }))
      return
    }
    const isFirst = known === ''
    const isAllHidden = shown.every(({ isHidden }) => isHidden)
    const keys = shown.map((_, at) => (at === 0 ? key : nextKey.current++))
    const keyOf = new Map(shown.map((table, at) => [tables.indexOf(table), keys[at] ?? key]))
    setDrafts((all) =>
      all.flatMap((draft) => {
        if (draft.key !== key) return [draft]
        const others = all.flatMap(({ key: other, target }) =>
          other !== key && target.kind === 'new' ? [target.title] : [],
        )
        const taken = [...draft.baseTitles, ...others]
        return shown.map(({ name, isHidden, analysis, problem, notes, parent }, at): Draft => {
          // Until its tables are known, a file has one draft with a title of its own.
          const isOwn = draft.target.kind === 'new' && (shown.length > 1 || name !== '')
          // A list does not go into the table of the records that have it.
          const isRenamed = isFirst && (isOwn || parent !== undefined)
          const title = freeTitle(tableTitleOf(source, name, shown.length === 1), taken)
          const target: DraftTarget = isRenamed ? { kind: 'new', title } : draft.target
          if (isRenamed) taken.push(title)
          return {
            ...draft,
            key: keys[at] ?? key,
            table: isFirst ? name : draft.table,
            parent:
              isFirst && parent
                ? { key: keyOf.get(parent.table) ?? key, column: parent.column }
                : draft.parent,
            isOn: isFirst ? problem === null && (!isHidden || isAllHidden) : draft.isOn,
            target,
            chosen: analysis ? { ...draft.chosen, ...placeOf(analysis) } : draft.chosen,
            analysis,
            error: problem === null ? null : new AnalyseError(problem, 'foreign'),
            notes: notes ?? [],
            part: (analysis && rangeOf(analysis)) ?? draft.part,
            isReading: false,
            progress: NO_PROGRESS,
            columns: analysis ? draftColumns(analysis, target) : [],
          }
        })
      }),
    )
  }

  /** Lets a list go into the table of the link field that the column with the lists is mapped to. */
  async function fillLinked(
    { key, analysis, isOn }: Draft,
    { id }: Field,
    relatedTableId: string,
  ): Promise<void> {
    // Until the table is there, an import would create a new one.
    change(key, () => ({ isOn: true, isReading: true }))
    try {
      const target = await loadTarget(relatedTableId)
      setDrafts((all) =>
        all.map((draft) => {
          const parent = all.find((other) => other.key === draft.parent?.key)
          const list = parent?.columns.find(({ index }) => index === draft.parent?.column)
          if (draft.key !== key || !analysis || list?.fieldId !== id) return draft
          return { ...draft, target, columns: draftColumns(analysis, target) }
        }),
      )
    } catch (error) {
      change(key, () => ({ isOn }))
      showError(error)
    } finally {
      change(key, () => ({ isReading: false }))
    }
  }

  /** The link field to whose table the lists of a draft belong; null for none. */
  function linkOfList(
    parent: Draft | undefined,
    column: number | undefined,
  ): { field: Field; to: string } | null {
    const list = parent?.columns.find(({ index }) => index === column)
    const field = parent ? fieldForList(parent.target, list) : null
    const link = field && linkOf(field)
    return field && link ? { field, to: link.relatedTableId } : null
  }

  function reread(draft: Draft): void {
    change(draft.key, () => ({ ...draft, isReading: true }))
    void read({ ...draft, isReading: true })
  }

  return {
    drafts,
    /** @param baseTitles titles of the base's tables, which new ones must not have */
    add(sources: { source: ImportSource; target: DraftTarget }[], baseTitles: readonly string[]): number[] {
      const added = sources.map(({ source, target }): Draft => {
        const key = nextKey.current++
        const empty = {
          analysis: null,
          error: null,
          notes: [],
          columns: [],
          isReading: true,
          progress: NO_PROGRESS,
        }
        const settings = { table: '', parent: null, isOn: true, chosen: {}, readAll: undefined }
        return { key, source, target, baseTitles, ...settings, ...empty }
      })
      setDrafts((all) => [...all, ...added])
      for (const draft of added) void read(draft)
      return added.map(({ key }) => key)
    },
    remove(key: number): void {
      latest.current.get(key)?.abort()
      latest.current.delete(key)
      const others = drafts.filter((draft) => draft.key !== key)
      const source = drafts.find((draft) => draft.key === key)?.source
      if (source && !others.some((other) => other.source === source)) {
        uploads.current.get(source)?.controller.abort()
        uploads.current.delete(source)
      }
      setDrafts((all) => all.filter((draft) => draft.key !== key))
    },
    /** Ticks a table; lists within records are then no column of their records. */
    setOn(key: number, isOn: boolean): void {
      const own = drafts.find((draft) => draft.key === key)
      const parent = own?.parent
      change(key, () => ({ isOn }))
      if (!own || !parent) return
      const link = linkOfList(
        drafts.find((draft) => draft.key === parent.key),
        parent.column,
      )
      if (isOn && link && own.target.kind === 'new') void fillLinked(own, link.field, link.to)
      change(parent.key, ({ columns, target }) => ({
        columns: columns.map((column) =>
          column.index === parent.column && target.kind === 'new' ? { ...column, isOn: !isOn } : column,
        ),
      }))
    },
    /** Id of the upload of a file that the server has analysed. */
    uploadOf: (source: ImportSource): Promise<string> | undefined => uploads.current.get(source)?.uploadId,
    /** Changes the format and analyses the file again. */
    choose: (draft: Draft, chosen: ChosenFormat) =>
      reread({ ...draft, chosen: { ...draft.chosen, ...chosen } }),
    chooseReadAll: (draft: Draft, readAll: boolean) => reread({ ...draft, readAll }),
    tryAgain: (draft: Draft) => reread(draft),
    /** Keeps the columns for the same table; maps them again for another one. */
    setTarget(key: number, target: DraftTarget): void {
      const draft = drafts.find((each) => each.key === key)
      const isJson = draft?.analysis?.format.kind === 'json' && draft.chosen.flatten === undefined
      if (draft && isJson && keepsObjects(draft.target) !== keepsObjects(target)) {
        reread({ ...draft, target })
        return
      }
      change(key, ({ target: before, columns, analysis }) => ({
        target,
        columns: isSameTable(before, target) || !analysis ? columns : draftColumns(analysis, target),
      }))
    },
    setColumn(key: number, index: number, patch: Partial<DraftColumn>): void {
      const patched = (column: DraftColumn, analysis: Analysis | null): DraftColumn => {
        const next = { ...column, ...(patch.type && { link: null }), ...patch }
        return patch.type && !patch.options && analysis ? withType(next, patch.type, analysis) : next
      }
      change(key, ({ columns, analysis }) => ({
        columns: columns.map((column) => (column.index === index ? patched(column, analysis) : column)),
      }))
      const own = drafts.find((draft) => draft.key === key)
      const list = drafts.find(({ parent }) => parent?.key === key && parent.column === index)
      if (!own || !list || !patch.fieldId) return
      const columns = own.columns.map((column) =>
        column.index === index ? patched(column, own.analysis) : column,
      )
      const link = linkOfList({ ...own, columns }, index)
      if (link) void fillLinked(list, link.field, link.to)
    },
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

const rangeOf = ({ format }: Analysis): SheetRange | undefined => (format as Partial<ExcelFormat>).range

/** The place of a table in its file, so that another analysis looks at this table only. */
function placeOf({ format }: Analysis): ChosenFormat {
  const { sheet, range, table, nested } = format as ChosenFormat
  return {
    ...(sheet !== undefined && { sheet }),
    ...(range && { range }),
    ...(table !== undefined && { table, nested }),
  }
}
