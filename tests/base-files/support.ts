import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { doorOf, ended, type JobAnswer, upload } from '../imports/support.ts'
import type { Bench } from '../records/support.ts'
import type { TestUser } from '../support/app.ts'

type ExportOptions = Omit<Parameters<Bench['trpc']['baseFiles']['export']['mutate']>[0], 'baseId'>

/** Exports a base as a file and returns its bytes. */
export async function exportFile(
  { app, owner, trpc }: Pick<Bench, 'app' | 'owner' | 'trpc'>,
  baseId: string,
  options: ExportOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const { jobId } = await trpc.baseFiles.export.mutate({ baseId, ...options })
  const job = await ended(doorOf(app, owner), jobId)
  if (job.status !== 'completed') throw new Error(`The export is ${job.status}: ${job.error}`)
  const answer = await fetch(`${app.url}/${(job.result as { url: string }).url}`)
  return new Uint8Array(await answer.arrayBuffer())
}

/** Uploads a file, opens it as a base and returns the ended job. */
export async function importFile(
  { app }: Pick<Bench, 'app'>,
  user: TestUser,
  bytes: Uint8Array<ArrayBuffer>,
  options: { withHistory?: boolean } = {},
): Promise<JobAnswer & { baseId: string }> {
  const door = doorOf(app, user)
  const uploadId = await upload(door, bytes, 'base.sheaf')
  const { jobId, baseId } = await app.trpc(user.token).baseFiles.import.mutate({ uploadId, ...options })
  return { ...(await ended(door, jobId)), baseId }
}

/** Runs `work` on a file of these bytes, and removes it. */
export async function withFile<T>(bytes: Uint8Array, work: (path: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'sheaf-file-'))
  try {
    const path = join(folder, 'base.sheaf')
    writeFileSync(path, bytes)
    return await work(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
