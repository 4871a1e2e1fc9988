import type { CSSProperties } from 'react'
import { textOn } from '../../cells/text-on.ts'

/** Page styles of a form: background colour, and button colours as custom properties. */
export function pageStyle(background: string | null, theme: string | null): CSSProperties {
  return {
    ...(background && { background }),
    ...(theme && { '--form-theme': theme, '--form-on-theme': textOn(theme) }),
  } as CSSProperties
}
