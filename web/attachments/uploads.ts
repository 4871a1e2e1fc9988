import { useEffect } from 'react'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import type { AttachmentOptions } from '../../src/core/fields/attachment.ts'
import { type AttachmentItem, nameIn, readAttachments } from '../../src/core/fields/attachment-item.ts'
import { messageOf } from '../errors.ts'
import { watchUnsaved } from '../session/unsaved.ts'
import type { FileTarget } from './file-target.ts'
import { problemOf, serverLimits } from './limits.ts'
import { type FileSource, sendFile } from './send-file.ts'

/** A file being uploaded to a cell. */
export interface Upload {
  id: number
  /** `FileTarget.key` of the cell. */
  key: string
  name: string
  /** Bytes; null for one that the server fetches. */
  size: number | null
  sent: number
  /** `checking`: whether the field may take it. */
  state: 'checking' | 'waiting' | 'sending' | 'failed'
  /** Why it failed. */
  message: string | null
}

/** Files chosen together, which are written to the cell as one change when the last upload has ended. */
interface Batch {
  target: FileTarget
  /** Null until the file has arrived. */
  items: (AttachmentItem | null)[]
  /** Number of uploads that have not ended. */
  open: number
}

interface Work {
  id: number
  source: FileSource
  batch: Batch
  place: number
  controller: AbortController
}

/** Maximum number of concurrent uploads. */
const MAX_AT_ONCE = 3

interface UploadsState {
  shown: readonly Upload[]
  /** Cells whose open file list shows their uploads. */
  attended: ReadonlySet<string>
}

const state = createStore<UploadsState>(() => ({ shown: [], attended: new Set() }))
const works = new Map<number, Work>()
/** Batches that have not been written, in the order in which they were chosen. */
const batches = new Set<Batch>()
let nextId = 1
let running = 0

watchUnsaved({
  count: () => shownUploads().filter(isOpen).length,
  // Files may take long.
  sent: async () => {},
})

/** The uploads of one cell, or all of them. */
export function useUploads(key?: string): readonly Upload[] {
  const all = useStore(state, ({ shown }) => shown)
  return key === undefined ? all : all.filter((upload) => upload.key === key)
}

/** The uploads of cells whose list is not open. */
export function useUnattended(): readonly Upload[] {
  const { shown, attended } = useStore(state)
  return shown.filter(({ key }) => !attended.has(key))
}

/** Marks a cell's uploads as shown in its open file list; call the result when the list closes. */
export function attend(key: string): () => void {
  state.setState(({ attended }) => ({ attended: new Set(attended).add(key) }))
  return () =>
    state.setState(({ attended }) => ({ attended: new Set([...attended].filter((one) => one !== key)) }))
}

/**
 * True while files for a form are on their way: what it submits now would lack them. They are cancelled when the form
 * closes.
 *
 * @param form how the keys of its cells begin
 */
export function useFormUploads(form: string): boolean {
  useEffect(
    () => () => {
      for (const { id, key } of shownUploads()) if (key.startsWith(form)) cancelUpload(id)
    },
    [form],
  )
  return useStore(state, ({ shown }) => shown.some((one) => one.key.startsWith(form) && isOpen(one)))
}

/**
 * Uploads files and adds the successful ones to the cell in one change. Shows them at once, and the rejected ones with
 * the reason.
 */
export function startUploads(target: FileTarget, sources: readonly FileSource[]): void {
  const batch: Batch = { target, items: sources.map(() => null), open: sources.length }
  batches.add(batch)
  const added = sources.map((source, place): Work => {
    const id = nextId++
    return { id, source, batch, place, controller: new AbortController() }
  })
  for (const work of added) works.set(work.id, work)
  const lines = added.map(({ id, source }): Upload => {
    const isFile = 'file' in source
    return {
      id,
      key: target.key,
      name: isFile ? source.file.name : nameIn(source.url),
      size: isFile ? source.file.size : null,
      sent: 0,
      state: 'checking',
      message: null,
    }
  })
  publish([...shownUploads(), ...lines])
  check(batch, added).catch((error) => {
    for (const work of added) if (works.has(work.id)) fail(work, messageOf(error))
  })
}

/** Queues the files that the field may take, and rejects the others. */
async function check(batch: Batch, added: readonly Work[]): Promise<void> {
  const { target } = batch
  const [server, current] = await Promise.all([serverLimits(), target.latest()])
  let place = readAttachments(current).length
  for (const earlier of batches) {
    if (earlier === batch) break
    if (earlier.target.key === target.key) place += earlier.open + arrivedOf(earlier).length
  }
  for (const work of added) {
    if (!works.has(work.id)) continue
    const problem = problemOf(work.source, place, target.field.options as AttachmentOptions, server)
    if (problem !== null) fail(work, problem)
    else {
      place++
      change(work.id, { state: 'waiting' })
    }
  }
  runNext()
}

function fail(work: Work, message: string): void {
  change(work.id, { state: 'failed', message })
  finishOne(work.batch)
}

/** Cancels an upload, or removes a failed one from the list. */
export function cancelUpload(id: number): void {
  const work = works.get(id)
  const upload = shownUploads().find((one) => one.id === id)
  if (!work || !upload) return
  work.controller.abort()
  // Aborting ends a running upload, which removes it from the list.
  if (upload.state === 'sending') return
  remove(id)
  if (upload.state !== 'failed') finishOne(work.batch)
}

/** Sends a failed file again. Its line stays until the new one is there: the tray closes when it is empty. */
export function retryUpload(id: number): void {
  const work = works.get(id)
  if (!work) return
  startUploads(work.batch.target, [work.source])
  remove(id)
}

function runNext(): void {
  const waiting = shownUploads().find(({ state }) => state === 'waiting')
  const work = waiting && works.get(waiting.id)
  if (!work || running >= MAX_AT_ONCE) return
  running++
  change(work.id, { state: 'sending' })
  void run(work).finally(() => {
    running--
    runNext()
  })
  runNext()
}

async function run(work: Work): Promise<void> {
  const { id, source, batch, place, controller } = work
  try {
    batch.items[place] = await sendFile(source, {
      signal: controller.signal,
      onProgress: (sent) => change(id, { sent }),
    })
    remove(id)
  } catch (error) {
    if (!controller.signal.aborted) return fail(work, messageOf(error))
    remove(id)
  }
  finishOne(batch)
}

/** Counts an ended upload; the last one of its batch writes all that succeeded. */
function finishOne(batch: Batch): void {
  batch.open--
  if (batch.open > 0) return
  batches.delete(batch)
  const arrived = arrivedOf(batch)
  if (arrived.length === 0) return
  const paths = new Set(arrived.map(({ path }) => path))
  batch.target.edit((items) => [...items.filter(({ path }) => !paths.has(path)), ...arrived])
}

const arrivedOf = ({ items }: Batch): AttachmentItem[] => items.filter((item) => item !== null)

function change(id: number, part: Partial<Upload>): void {
  publish(shownUploads().map((upload) => (upload.id === id ? { ...upload, ...part } : upload)))
}

function remove(id: number): void {
  works.delete(id)
  publish(shownUploads().filter((upload) => upload.id !== id))
}

const isOpen = ({ state }: Upload): boolean => state !== 'failed'

const shownUploads = (): readonly Upload[] => state.getState().shown

const publish = (shown: readonly Upload[]): void => state.setState({ shown })
