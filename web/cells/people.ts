import { createContext, useContext } from 'react'
import type { Person } from '../../src/core/model.ts'

const PeopleContext = createContext<ReadonlyMap<string, Person>>(new Map())

/** Gives the cells below it the people whom user ids stand for, by id. */
export const PeopleProvider = PeopleContext.Provider

/** People by id; empty outside of a `PeopleProvider`. */
export const usePeople = (): ReadonlyMap<string, Person> => useContext(PeopleContext)
