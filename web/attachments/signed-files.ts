import { useSyncExternalStore } from 'react'
import { api, type Outputs } from '../trpc.ts'

/** Temporary links to a file that work without a session. */
export type SignedFile = Outputs['records']['signFiles']['files'][string]

interface Entry {
  /** Null: the server knows no such file in this base. */
  file: SignedFile | null
  /** These times are by the clock of this browser, which may differ from the server's. */
  expiresAt: number
  renewAt: number
  /** Until then, another link would not load what this one does not. */
  trustedUntil: number
}

/** Signed URLs are renewed this long before they expire, those that live briefly after four fifths of their time. */
const MARGIN_MS = 5 * 60_000
/** Files unknown to the server are requested again after this time, because their record may not be saved yet. */
const UNKNOWN_MS = 5_000
const RETRY_MS = 3_000
/** Cells mounted within this time share one request. */
const GATHER_MS = 12
const MAX_PATHS = 500
/** How long a local blob replaces the thumbnails of a file uploaded here. */
const LOCAL_MS = 15 * 60_000

const known = new Map<string, Entry>()
const listeners = new Map<string, Set<() => void>>()
const wanted = new Map<string, Set<string>>()
let isGathering = false

/**
 * Signed URLs of a file; null until they are loaded. Records do not include them, so cells request them when they are
 * drawn.
 */
export function useSignedFile(tableId: string, path: string | undefined): SignedFile | null {
  return useSyncExternalStore(
    (onChange) => (path === undefined ? () => {} : listen(path, onChange)),
    () => (path === undefined ? null : peek(tableId, path)),
  )
}

/** The current links of a file. @throws if the server cannot be reached */
export async function signedFile(tableId: string, path: string): Promise<SignedFile | null> {
  const entry = known.get(path)
  if (entry?.file && isFresh(entry)) return entry.file
  store(await api.records.signFiles.query({ tableId, paths: [path] }), [path])
  return known.get(path)?.file ?? null
}

/** Caches a file uploaded by this browser, so that its thumbnail is not downloaded. */
export function rememberUpload(path: string, content: Blob, signedPath: string, isPicture: boolean): void {
  const local = isPicture ? URL.createObjectURL(content) : null
  const thumbnails = local ? { tiny: local, small: local, card_cover: local } : null
  const until = Date.now() + LOCAL_MS
  const file = { url: `/${signedPath}`, thumbnails }
  known.set(path, { file, expiresAt: until, renewAt: until, trustedUntil: 0 })
  if (local) setTimeout(() => forget(path, local), LOCAL_MS)
}

function forget(path: string, local: string): void {
  known.delete(path)
  URL.revokeObjectURL(local)
  notify(path)
}

/** Drops the signed URL of a file that failed to load, unless it was signed recently. */
export function distrust(path: string): void {
  const entry = known.get(path)
  if (!entry?.file || Date.now() < entry.trustedUntil) return
  known.delete(path)
  notify(path)
}

const isFresh = ({ renewAt }: Entry): boolean => renewAt > Date.now()

function peek(tableId: string, path: string): SignedFile | null {
  const entry = known.get(path)
  if (entry && isFresh(entry)) return entry.file
  const paths = wanted.get(tableId) ?? new Set()
  wanted.set(tableId, paths.add(path))
  if (!isGathering) setTimeout(() => void loadWanted(), GATHER_MS)
  isGathering = true
  // The old link may still work while the new one loads.
  return entry && entry.expiresAt > Date.now() ? entry.file : null
}

async function loadWanted(): Promise<void> {
  isGathering = false
  const groups = [...wanted].flatMap(([tableId, paths]) =>
    chunks([...paths]).map((some) => ({ tableId, some })),
  )
  wanted.clear()
  await Promise.all(
    groups.map(async ({ tableId, some }) => {
      try {
        store(await api.records.signFiles.query({ tableId, paths: some }), some)
      } catch (error) {
        // Missing images need no message; they are retried once the connection is back.
        console.warn('links to files could not be read', error)
        setTimeout(() => some.forEach(notify), RETRY_MS)
      }
    }),
  )
}

function store({ files, validMs }: Outputs['records']['signFiles'], asked: readonly string[]): void {
  const now = Date.now()
  const signed = {
    expiresAt: now + validMs,
    renewAt: now + validMs - Math.min(MARGIN_MS, validMs / 5),
    trustedUntil: now + validMs / 2,
  }
  const unknown = { expiresAt: now + UNKNOWN_MS, renewAt: now + UNKNOWN_MS, trustedUntil: 0 }
  for (const path of asked) {
    const file = files[path] ?? null
    known.set(path, { file, ...(file ? signed : unknown) })
    if (!file) setTimeout(() => notify(path), UNKNOWN_MS + 100)
    notify(path)
  }
}

function chunks(paths: string[]): string[][] {
  const parts: string[][] = []
  for (let start = 0; start < paths.length; start += MAX_PATHS)
    parts.push(paths.slice(start, start + MAX_PATHS))
  return parts
}

function listen(path: string, onChange: () => void): () => void {
  const set = listeners.get(path) ?? new Set()
  listeners.set(path, set.add(onChange))
  return () => {
    set.delete(onChange)
    if (set.size === 0 && listeners.get(path) === set) listeners.delete(path)
  }
}

function notify(path: string): void {
  for (const onChange of listeners.get(path) ?? []) onChange()
}
