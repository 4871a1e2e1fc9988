import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import type { AttachmentOptions } from '../../src/core/fields/attachment.ts'
import {
  type AttachmentItem,
  nameIn,
  readAttachments,
  writeAttachments,
} from '../../src/core/fields/attachment-item.ts'
import { messageOf } from '../errors.ts'
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
  state: 'waiting' | 'sending' | 'failed'
  /** Why it failed. */
  message: string | null
}

/** Files chosen together, which are written to the cell as one change when the last upload has ended. */
interface Batch {
  target: FileTarget
  items: (AttachmentItem | null)[]
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
let nextId = 1
let running = 0

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

/** Uploads files and adds the successful ones to the cell in one change. Shows the rejected ones with the reason. */
export async function startUploads(target: FileTarget, sources: readonly FileSource[]): Promise<void> {
  if (sources.length === 0) return
  const options = target.field.options as AttachmentOptions
  const [server, current] = await Promise.all([serverLimits(), target.latest()])
  const taken =
    readAttachments(current).length +
    shownUploads().filter(({ key, state }) => key === target.key && state !== 'failed').length
  const batch: Batch = { target, items: sources.map(() => null), open: 0 }
  let place = taken
  const added = sources.map((source, at): Upload => {
    const problem = problemOf(source, place, options, server)
    const id = nextId++
    works.set(id, { id, source, batch, place: at, controller: new AbortController() })
    if (problem === null) {
      batch.open++
      place++
    }
    return {
      id,
      key: target.key,
      sent: 0,
      message: problem,
      name: 'file' in source ? source.file.name : nameIn(source.url),
      size: 'file' in source ? source.file.size : null,
      state: problem === null ? 'waiting' : 'failed',
    }
  })
  publish([...shownUploads(), ...added])
  runNext()
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
  if (upload.state === 'waiting') finishOne(work.batch)
}

/** Sends a failed file again. Its line stays until the new one is there: the tray closes when it is empty. */
export function retryUpload(id: number): void {
  const work = works.get(id)
  if (!work) return
  works.delete(id)
  startUploads(work.batch.target, [work.source]).then(
    () => remove(id),
    (error) => {
      works.set(id, work)
      change(id, { message: messageOf(error) })
    },
  )
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
    if (controller.signal.aborted) remove(id)
    else change(id, { state: 'failed', message: messageOf(error) })
  }
  finishOne(batch)
}

/** Counts an ended upload; the last one of its batch writes all that succeeded. */
function finishOne(batch: Batch): void {
  batch.open--
  const arrived = batch.items.filter((item) => item !== null)
  if (batch.open > 0 || arrived.length === 0) return
  batch.items = batch.items.map(() => null)
  const { target } = batch
  target.latest().then(
    (current) => target.write(writeAttachments([...readAttachments(current), ...arrived])),
    (error) => target.refused(messageOf(error)),
  )
}

function change(id: number, part: Partial<Upload>): void {
  publish(shownUploads().map((upload) => (upload.id === id ? { ...upload, ...part } : upload)))
}

function remove(id: number): void {
  works.delete(id)
  publish(shownUploads().filter((upload) => upload.id !== id))
}

const shownUploads = (): readonly Upload[] => state.getState().shown

const publish = (shown: readonly Upload[]): void => state.setState({ shown })
