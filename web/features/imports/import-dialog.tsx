import { CircleAlert, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { freeTitle } from '../../../src/core/free-title.ts'
import { createsRecords, problemOf, toStartInput } from '../../../src/core/imports/draft.ts'
import { previewable } from '../../../src/core/imports/nested-lists.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { m } from '../../messages.gen.ts'
import { api, trpc } from '../../trpc.ts'
import { showError } from '../../ui/attempt.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { ChooseSource } from './choose-source.tsx'
import { DraftView, isDeletedTarget } from './draft-view.tsx'
import styles from './import-dialog.module.css'
import { loadTarget } from './load-target.ts'
import { JobView, RunList, RunView, showCards } from './run-view.tsx'
import { cancelRun, dismissRun, hasEnded, IMPORT_JOB, startRuns, useRuns } from './runs.ts'
import { type ImportSource, sourceOfFile, sourceOfText, tableTitleOf } from './source.ts'
import { type Draft, isEncodingOpen, useDrafts } from './use-drafts.ts'
import { useLinks } from './use-links.ts'

/** Initial source of an import; null: choose in the dialog. */
export type ImportStart = File | File[] | { text: string } | { url: string } | null

export interface ImportDialogProps {
  start: ImportStart
  baseId: string
  tableId?: string
  onClose: () => void
}

/** Import dialog: choose files, set up columns, follow progress. */
export function ImportDialog({ start, baseId, tableId, onClose }: ImportDialogProps) {
  const all = useDrafts()
  const [activeKey, setActiveKey] = useState<number | null>(null)
  const [started, setStarted] = useState<number[] | null>(null)
  const [isPreviewing, setPreviewing] = useState(false)
  const [isChoosing, setChoosing] = useState(start === null)
  /** Pasted text that could not be read, to be mended. */
  const [pasted, setPasted] = useState('')
  const tables = trpc.schema.tables.useQuery({ baseId })
  const base = trpc.bases.get.useQuery({ baseId })
  const { drafts, targetsOf } = useLinks(baseId, all.drafts, base.data?.role ?? null)
  const chosen = drafts.filter(({ isOn }) => isOn)
  const runs = useRuns().filter(({ id }) => started?.includes(id))
  const mayCreate = roleCan(base.data?.role ?? null, 'import.create')

  async function add(sources: ImportSource[]): Promise<void> {
    const known = (tables.data ?? (await api.schema.tables.query({ baseId }))).map(({ title }) => title)
    const taken = [...known, ...drafts.flatMap(({ target }) => (target.kind === 'new' ? [target.title] : []))]
    const existing = tableId === undefined ? null : await loadTarget(tableId)
    const added = sources.map((source) => {
      const title = freeTitle(tableTitleOf(source), taken)
      taken.push(title)
      return { source, target: existing ?? { kind: 'new' as const, title } }
    })
    const keys = all.add(added, known)
    setActiveKey(keys[0] ?? null)
    setChoosing(false)
    setPasted('')
  }

  /** @throws the server's error */
  async function addUrl(url: string): Promise<void> {
    const { uploadId, fileName, size } = await api.imports.fetchUrl.mutate({ url })
    await add([{ kind: 'upload', uploadId, name: fileName, size }])
  }

  const hasBegun = useRef(false)
  useEffect(() => {
    if (hasBegun.current || start === null) return
    hasBegun.current = true
    const failed = (error: unknown) => {
      showError(error)
      setChoosing(true)
    }
    if (start instanceof File) add([sourceOfFile(start)]).catch(failed)
    else if (Array.isArray(start)) add(start.map(sourceOfFile)).catch(failed)
    else if ('text' in start) add([sourceOfText(start.text)]).catch(failed)
    else addUrl(start.url).catch(failed)
  })

  const main = useRef<HTMLButtonElement>(null)
  const isShown = drafts.some(({ analysis }) => analysis)
  useEffect(() => {
    // The dialog had nothing to focus while the file was read.
    const isLost = document.activeElement === document.body || document.activeElement?.role === 'dialog'
    if (isShown && isLost) main.current?.focus()
  }, [isShown])

  /** A run of each file, whose preview has sent it. */
  const previews = useRef(new Map<ImportSource, number>())

  /** @param uploadOf the upload of a file that has been sent before */
  function run(
    list: readonly Draft[],
    isPreview: boolean,
    uploadOf: (source: ImportSource) => Promise<string> | undefined,
  ): number[] {
    const positionOf = (key: number) => list.findIndex((draft) => draft.key === key)
    const tables = list.map(({ source, table, analysis, columns: draftColumns, target }) => ({
      source,
      name: table === '' ? source.name : `${source.name}: ${table}`,
      inputOf(uploadId: string) {
        if (!analysis) throw new Error(m.imports_file_read_failed())
        const input = toStartInput({ baseId, uploadId, analysis }, draftColumns, target, positionOf)
        // A list whose records have no preview is previewed without their links.
        const isKnown = (link: (typeof input.columns)[number]['link']) =>
          !link || !('table' in link.to) || link.to.table >= 0
        const columns = input.columns.filter(({ link }) => isKnown(link))
        return isPreview ? { ...input, columns, preview: true } : input
      },
    }))
    const linked = list.filter(({ target }) => target.kind === 'new')
    const links = linked.flatMap(({ columns }) => columns.filter(({ isOn, link }) => isOn && link))
    const ids = startRuns(baseId, tables, { hasLinks: !isPreview && links.length > 0, uploadOf })
    for (const [at, { source }] of list.entries()) {
      const id = ids[at]
      if (isPreview && id !== undefined) previews.current.set(source, id)
    }
    return ids
  }

  const updating = chosen.filter(
    ({ columns, target }) =>
      target.kind === 'append' && (target.update || columns.some((column) => createsRecords(column, target))),
  )

  /** Updates, and lists that go into existing tables, with their records: the preview counts their links. */
  function previewed(): Draft[] {
    const known = previewable(chosen)
    const lists = known.filter(({ columns }) => columns.some(({ isOn, link }) => isOn && link?.by === 'row'))
    const owners = new Set(lists.map(({ parent }) => parent?.key))
    return chosen.filter(
      (draft) => updating.includes(draft) || lists.includes(draft) || owners.has(draft.key),
    )
  }

  /** Shows what updates would change before anything is written. */
  function begin(): void {
    const hasUpdates = updating.length > 0
    setPreviewing(hasUpdates)
    setStarted(hasUpdates ? run(previewed(), true, all.uploadOf) : run(chosen, false, all.uploadOf))
  }

  function endPreview(): void {
    for (const preview of runs) {
      if (!hasEnded(preview)) cancelRun(preview.id).catch(showError)
      dismissRun(preview.id)
    }
    setPreviewing(false)
  }

  /** Imports all tables after their preview, which has sent some of the files. */
  function confirm(): void {
    const sent = new Map(
      runs.flatMap(({ id, uploadId }) => (uploadId === null ? [] : [[id, uploadId] as const])),
    )
    endPreview()
    const uploadOf = (source: ImportSource) => {
      const uploadId = sent.get(previews.current.get(source) ?? 0)
      return uploadId === undefined ? all.uploadOf(source) : Promise.resolve(uploadId)
    }
    setStarted(run(chosen, false, uploadOf))
  }

  /** Running imports continue as cards in the corner of the page. */
  function leave(): void {
    for (const run of runs) if (hasEnded(run)) dismissRun(run.id)
    if (runs.some((run) => !hasEnded(run))) showCards()
    onClose()
  }

  /** Back to the settings, which are as they were. */
  function back(): void {
    endPreview()
    setStarted(null)
  }

  if (started && isPreviewing) {
    return (
      <Dialog
        title={m.imports_preview_of_changes()}
        size="large"
        closesOutside={false}
        onClose={() => {
          endPreview()
          onClose()
        }}
        footer={
          <>
            <Button className={styles.back} onClick={back}>
              {m.imports_back()}
            </Button>
            <Button
              variant="primary"
              disabled={!runs.every(({ status }) => status === 'completed')}
              onClick={confirm}
              data-autofocus
            >
              {m.imports_import()}
            </Button>
          </>
        }
      >
        <div className={styles.runs}>
          {runs.map((one) => (
            <RunView key={one.id} run={one} onLeave={leave} />
          ))}
        </div>
      </Dialog>
    )
  }

  if (started) {
    const isOver = runs.every(hasEnded)
    const isFruitless = isOver && runs.every(({ status }) => status !== 'completed')
    return (
      <Dialog
        title={isOver ? m.imports_import_finished() : m.imports_importing()}
        onClose={leave}
        footer={
          <>
            {isFruitless && (
              <Button className={styles.back} onClick={back}>
                {m.imports_back()}
              </Button>
            )}
            <Button onClick={leave} data-autofocus>
              {isOver ? m.common_done() : m.imports_continue_in_the_background()}
            </Button>
          </>
        }
      >
        <div className={styles.runs}>
          <RunList runs={runs}>
            {(run) =>
              run.kind === IMPORT_JOB ? (
                <RunView key={run.id} run={run} onLeave={leave} />
              ) : (
                <JobView key={run.id} run={run} />
              )
            }
          </RunList>
        </div>
      </Dialog>
    )
  }

  if (isChoosing) {
    return (
      <Dialog
        title={m.imports_import()}
        closesOutside={false}
        onClose={onClose}
        footer={
          drafts.length > 0 && (
            <Button className={styles.back} onClick={() => setChoosing(false)}>
              {m.imports_back()}
            </Button>
          )
        }
      >
        <ChooseSource
          text={pasted}
          onFiles={(files) => add(files.map(sourceOfFile))}
          onText={(text) => add([sourceOfText(text)])}
          onUrl={addUrl}
        />
      </Dialog>
    )
  }

  const active = drafts.find(({ key }) => key === activeKey) ?? drafts[0]
  const isReady = chosen.every((draft) => {
    const isNamed =
      draft.target.kind === 'append'
        ? !isDeletedTarget(draft.target, tables.data)
        : draft.target.title.trim() !== ''
    const isClear = !isEncodingOpen(draft) && problemOf(draft.columns, draft.target) === null
    return draft.analysis && !draft.isReading && isNamed && isClear
  })
  const rowCount = chosen.reduce((sum, { analysis }) => sum + (analysis?.rowCount ?? 0), 0)
  const isExact = chosen.every(({ analysis }) => analysis?.isExact)
  const importLabel = isExact ? m.imports_import_rows({ count: rowCount }) : m.imports_import()
  return (
    <Dialog
      title={drafts.length > 1 ? m.imports_import_tables({ count: chosen.length }) : m.imports_import()}
      size="large"
      closesOutside={false}
      onClose={onClose}
      onSubmit={() => isReady && chosen.length > 0 && begin()}
      footer={
        <>
          <Button className={styles.back} onClick={() => setChoosing(true)}>
            {m.imports_add_another_file()}
          </Button>
          <Button onClick={onClose}>{m.common_cancel()}</Button>
          <Button ref={main} type="submit" variant="primary" disabled={!isReady || chosen.length === 0}>
            {updating.length > 0 ? m.imports_preview_changes() : importLabel}
          </Button>
        </>
      }
    >
      {drafts.length > 1 && (
        <DraftTabs
          drafts={drafts}
          active={active}
          onChoose={setActiveKey}
          onTick={all.setOn}
          onRemove={all.remove}
        />
      )}
      <DraftView
        baseId={baseId}
        draft={active}
        all={all}
        targets={active ? targetsOf(active.key) : []}
        tables={tables.data}
        mayCreate={mayCreate}
        onChooseAnother={() => {
          if (active) all.remove(active.key)
          if (active?.source.kind === 'file') setPasted(active.source.text ?? '')
          setChoosing(true)
        }}
      />
    </Dialog>
  )
}

interface DraftTabsProps {
  drafts: Draft[]
  active: Draft | undefined
  onChoose: (key: number) => void
  onTick: (key: number, isOn: boolean) => void
  onRemove: (key: number) => void
}

/** Tabs of the tables to import: files, sheets and lists. */
function DraftTabs({ drafts, active, onChoose, onTick, onRemove }: DraftTabsProps) {
  return (
    <ul className={styles.tabs} aria-label={m.common_files()}>
      {drafts.map((draft) => {
        const name = draft.table || draft.source.name
        const isAmiss =
          draft.error !== null ||
          (draft.isOn && isEncodingOpen(draft)) ||
          (draft.isOn && draft.analysis && problemOf(draft.columns, draft.target) !== null)
        return (
          <li
            key={draft.key}
            className={styles.tab}
            data-active={draft === active || undefined}
            data-off={!draft.isOn || undefined}
          >
            <input
              type="checkbox"
              aria-label={m.imports_import_table({ name })}
              checked={draft.isOn}
              disabled={draft.error !== null}
              onChange={(event) => onTick(draft.key, event.target.checked)}
            />
            <button
              type="button"
              aria-current={draft === active || undefined}
              onClick={() => onChoose(draft.key)}
            >
              {isAmiss && <CircleAlert size={14} aria-label={m.imports_needs_attention()} />}
              <span dir="auto">{name}</span>
            </button>
            <IconButton
              icon={X}
              iconSize={13}
              size="small"
              label={m.common_remove_name({ name })}
              onClick={() => onRemove(draft.key)}
            />
          </li>
        )
      })}
    </ul>
  )
}
