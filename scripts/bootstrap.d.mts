export declare function terminalEnv(): NodeJS.ProcessEnv;
