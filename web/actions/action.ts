import type { ComponentType } from 'react'
import type { Base } from '../../src/core/model.ts'
import { type BaseRight, holdsOrgRole, type OrgRole, roleCan } from '../../src/core/roles.ts'
import { currentPath } from '../navigation/paths.ts'
import { cache } from '../trpc.ts'

/** Context in which an action is offered or run: the current screen and the user's rights. */
export interface ActionContext {
  /** The base on screen; null elsewhere and while it loads. */
  base: Base | null
  tableId: string | null
  viewId: string | null
  /** True if the user's role in the base has the right. */
  can(right: BaseRight): boolean
  /** True if the user has the organisation role or a higher one. */
  holds(least: OrgRole): boolean
}

/** A user action, listed in menus, the command palette, the key map and the shortcut sheet. */
export interface Action {
  /** `noun.verb`, unique. */
  id: string
  label: () => string
  /** Heading in the palette and the shortcut sheet. */
  group: () => string
  icon?: ComponentType<{ size?: number | string }>
  /** Short description in the palette. */
  hint?: () => string
  /** E.g. `mod+k`, `alt+d`, `?`; `mod` is Cmd on a Mac. */
  shortcut?: string
  /** Hidden from the palette, e.g. the action that opens it. */
  hidden?: true
  /** Absent: always. */
  when?: (context: ActionContext) => boolean
  run: (context: ActionContext) => void | Promise<void>
}

/** The current context, from the URL and loaded data. */
export function actionContext(): ActionContext {
  const [, , first, second, third] = currentPath().split('?')[0]?.split('/') ?? []
  const base = first ? (cache.bases.get.getData({ baseId: first }) ?? null) : null
  const roles = cache.auth.me.getData()?.orgRoles ?? []
  return {
    base,
    tableId: base && second?.startsWith('m') ? second : null,
    viewId: base && third ? third : null,
    can: (right) => roleCan(base?.role ?? null, right),
    holds: (least) => holdsOrgRole(roles, least),
  }
}
