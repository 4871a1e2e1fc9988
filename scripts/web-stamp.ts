import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { ROOT } from './project.ts'

/** Folder of the built web app, which the server serves at `/`. */
export const WEB_OUTPUT = join(ROOT, 'dist', 'web')

/** File with the fingerprint of the sources from which it was built. */
export const WEB_STAMP = join(ROOT, 'dist', 'web.stamp')
/** Inputs of the bundle; `web` imports nothing else. */
const INPUTS = [
  'web',
  'src/core',
  'scripts/build-web.ts',
  'scripts/messages.ts',
  'package.json',
  'bun.lock',
  'tsconfig.json',
]

/** Hash of all inputs of a build. */
export async function fingerprintWeb(minify: boolean): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256').update(`${Bun.version} ${minify}`)
  for (const file of INPUTS.flatMap((input) => listFiles(join(ROOT, input)))) {
    hash.update(`\n${relative(ROOT, file)}\n`).update(await Bun.file(file).bytes())
  }
  return hash.digest('hex')
}

/** True if `dist/web` is missing or was built from sources with another fingerprint. */
export async function isWebStale(fingerprint: string): Promise<boolean> {
  const stamp = Bun.file(WEB_STAMP)
  return !existsSync(WEB_OUTPUT) || !(await stamp.exists()) || (await stamp.text()) !== fingerprint
}

/** Records the fingerprint from which `dist/web` was built. */
export const stampWeb = (fingerprint: string): Promise<number> => Bun.write(WEB_STAMP, fingerprint)

function listFiles(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isDirectory()) return found ? [path] : []
  const entries = readdirSync(path, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}
