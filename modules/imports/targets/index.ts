import type { ImportInput } from '../job-input.ts'
import { createConnectedTarget } from './connected.ts'
import type { ConnectedDeps } from './connected-import.ts'
import { createHomeTarget, type HomeDeps } from './home.ts'
import type { ImportTarget } from './target.ts'

export type TargetDeps = HomeDeps & ConnectedDeps

/** Returns the target of an import by its input. */
export function createImportTargets(deps: TargetDeps): (input: ImportInput) => ImportTarget {
  const home = createHomeTarget(deps)
  const targets: Record<ImportInput['target']['kind'], ImportTarget> = {
    new: home,
    append: home,
    connected: createConnectedTarget(deps),
  }
  return ({ target }) => targets[target.kind]
}
