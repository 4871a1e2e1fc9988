import type { Problem } from './ast.ts'
import type { CheckContext, FoundReference } from './check-context.ts'

/** A problem for each reference that leads back to the formula's own field. */
export function checkCircle(references: FoundReference[], context: CheckContext): Problem[] {
  const { selfId, referencesOf = () => [] } = context
  if (selfId === undefined) return []
  const titles = new Map(context.fields.map(({ id, title }) => [id, title]))
  const problems: Problem[] = []
  for (const { field, from, to } of references) {
    const path = pathTo(field.id, selfId, referencesOf)
    if (!path) continue
    problems.push({
      type: 'CIRCULAR_REFERENCE',
      message: 'Circular reference detected',
      from,
      to,
      path: [selfId, ...path].map((id) => titles.get(id) ?? id),
    })
  }
  return problems
}

/** Ids from one field to another along what they refer to, each field looked at once. */
function pathTo(
  start: string,
  goal: string,
  referencesOf: (fieldId: string) => readonly string[],
): string[] | null {
  const cameFrom = new Map<string, string | null>([[start, null]])
  for (const id of cameFrom.keys()) {
    if (id === goal) return trace(id, cameFrom)
    for (const next of referencesOf(id)) if (!cameFrom.has(next)) cameFrom.set(next, id)
  }
  return null
}

function trace(goal: string, cameFrom: Map<string, string | null>): string[] {
  const path: string[] = []
  for (let id: string | null | undefined = goal; id; id = cameFrom.get(id)) path.unshift(id)
  return path
}
