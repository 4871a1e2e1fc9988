import { lazyRouteComponent } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { loadPart } from './lazy-screen.ts'

/** A lazily loaded route screen. In its own file because public forms lazy-load parts but have no router. */
export const lazyScreen = <K extends string>(load: () => Promise<Record<K, ComponentType>>, name: K) =>
  lazyRouteComponent(() => loadPart(load), name)
