import { formulaTokens, readReference, writeReference } from './tokens.ts'

type Named = { id: string; title: string }

/**
 * The text with each `{Title}` replaced by `{{fieldId}}`, in which form it is kept, so that it follows a field
 * that gets another title. All else stays as its author wrote it; so do titles that no field has.
 */
export function toStored(text: string, fields: readonly Named[]): string {
  const byTitle = new Map(fields.map(({ id, title }) => [title, id]))
  return rewrite(text, ({ name, isId }) => {
    const id = isId ? undefined : byTitle.get(name)
    return id === undefined ? null : `{{${id}}}`
  })
}

/** The text with each `{{fieldId}}` replaced by `{Title}`, as its author reads it. */
export function toShown(stored: string, fields: readonly Named[]): string {
  const byId = new Map(fields.map(({ id, title }) => [id, title]))
  return rewrite(stored, ({ name, isId }) => {
    const title = isId ? byId.get(name) : undefined
    return title === undefined ? null : writeReference(title)
  })
}

/** Ids of the fields that a stored formula names, each once; also of one that cannot be read. */
export function storedReferences(stored: string): string[] {
  const ids: string[] = []
  rewrite(stored, ({ name, isId }) => {
    if (isId) ids.push(name)
    return null
  })
  return [...new Set(ids)]
}

function rewrite(
  text: string,
  replace: (reference: { name: string; isId: boolean }) => string | null,
): string {
  return formulaTokens(text)
    .map((token) => {
      const isReference = token.kind === 'reference' || token.kind === 'name'
      return (isReference ? replace(readReference(token.text)) : null) ?? token.text
    })
    .join('')
}
