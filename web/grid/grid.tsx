import type { ReactNode } from 'react'
import type { GridProps } from './props.ts'

export type { ActiveCell, GridHandle, GridProps } from './props.ts'

/** The grid. */
export function Grid(_props: GridProps): ReactNode {
  return null
}
