import { existsSync, readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { ROOT } from './project.ts'

/** Where the built web app lies: what the server serves at `/`. */
export const WEB_OUTPUT = join(ROOT, 'dist', 'web')

const STAMP = join(ROOT, 'dist', 'web.stamp')
/** All that the bundle is made of: `web` may import nothing else. */
const INPUTS = [
  'web',
  'src/core',
  'scripts/build-web.ts',
  'scripts/messages.ts',
  'package.json',
  'bun.lock',
  'tsconfig.json',
]

/** Text that changes whenever a build of the present sources would come out differently. */
export async function fingerprintWeb(minify: boolean): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256').update(`${Bun.version} ${minify}`)
  for (const file of INPUTS.flatMap((input) => listFiles(join(ROOT, input)))) {
    hash.update(`\n${relative(ROOT, file)}\n`).update(await Bun.file(file).bytes())
  }
  return hash.digest('hex')
}

/** Whether `dist/web` is missing or was built from other sources than this fingerprint's. */
export async function isWebStale(fingerprint: string): Promise<boolean> {
  const stamp = Bun.file(STAMP)
  return !existsSync(WEB_OUTPUT) || !(await stamp.exists()) || (await stamp.text()) !== fingerprint
}

/** Notes what `dist/web` was built from. */
export const stampWeb = (fingerprint: string): Promise<number> => Bun.write(STAMP, fingerprint)

function listFiles(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isDirectory()) return found ? [path] : []
  const entries = readdirSync(path, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}
