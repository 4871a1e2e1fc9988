import { prepareSources } from './install.ts'
import { bun, ROOT } from './project.ts'

interface Check {
  name: string
  command: string[]
}

/** What the last check has found, so that files which are not affected by a change are not checked again. */
const KNOWN_TYPES = ['--tsBuildInfoFile', 'node_modules/.cache/check.tsbuildinfo']

const CHECKS: Check[] = [
  { name: 'Biome', command: bun('node_modules/.bin/biome', 'ci', '--colors=off', '.') },
  // Finds problems that need types, which Biome lacks: promises that are not awaited, functions in string
  // concatenations.
  { name: 'Typed lint', command: bun('node_modules/.bin/oxlint', '--type-aware', '--format=unix', '.') },
  { name: 'TypeScript', command: bun('node_modules/.bin/tsc', '--noEmit', '--incremental', ...KNOWN_TYPES) },
  { name: 'Architecture', command: bun('test', '--timeout=120000', './tests/architecture.test.ts') },
]

/** Runs one check; returns its output, or null if it passed. */
async function findProblems({ command }: Check): Promise<string | null> {
  const child = Bun.spawn(command, { cwd: ROOT, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const printed = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return (await child.exited) === 0 ? null : (await printed).join('')
}

await prepareSources()
// Run in parallel, printed in order.
const results = CHECKS.map((check) => ({ check, problems: findProblems(check) }))
const failed: string[] = []
for (const { check, problems } of results) {
  const text = await problems
  if (text !== null) failed.push(check.name)
  console.log(text === null ? `${check.name}: fine` : `\n${check.name}:\n${text}`)
}
if (failed.length > 0) console.error(`Check failed: ${failed.join(', ')}`)
process.exit(failed.length > 0 ? 1 : 0)
